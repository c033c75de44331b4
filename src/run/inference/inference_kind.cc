// SPDX-License-Identifier: MIT
#include "run/inference/inference_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "host/machine/cpu_choice.h"
#include "host/machine/gpu_locality.h"
#include "host/machine/memory_budget.h"
#include "pass/derived_spec.h"
#include "result/judged/shared_work.h"
#include "run/case/case_settings.h"
#include "run/case/gpu_peaks.h"
#include "run/case/model_parts.h"
#include "run/case/quiet.h"
#include "run/inference/case_memory.h"
#include "run/inference/case_peaks.h"
#include "run/inference/case_preparation.h"
#include "run/inference/check_files.h"
#include "run/inference/cross_check.h"
#include "run/inference/inference_results.h"
#include "run/inference/instance_cpus.h"
#include "run/inference/pass_factory.h"

namespace paceline::run {
namespace {

bool asks_dump(const CaseRun& c) {
  return c.definition.settings.has("dump_outputs");
}

std::filesystem::path dump_folder(const CaseRun& c) {
  return std::filesystem::absolute(c.definition.settings.text("dump_outputs")) / c.result.case_id;
}

// A check that an earlier part of the run made wrote its files then; whoever moved them wants them again.
bool lacks_dump(const CaseRun& c) {
  std::error_code unknown;  // the pass that writes says what is wrong with the folder
  return asks_dump(c) && !std::filesystem::exists(dump_folder(c), unknown);
}

// The largest unit where the outputs, or a witness of the reference, are further from it than the first unit
// accepts; that of the file's own run where the engine strays from it.
CasePreparation::Units needed_units(const result::Correctness& found, const pass::PassSpec& pass,
                                    CasePreparation::Units units) {
  const auto& question = pass.inference.accuracy;
  if (pass.inference.reference_file.empty()) return units;
  const bool unconfirmed = !question.witness_file.empty() && !found.independence.empty();
  const bool far = std::ranges::any_of(found.outputs, [](const auto& output) {
    return !output.passed && (output.judged_by == "ulps" || output.judged_by == "equal_values");
  });
  const bool strays = found.engine_strays;
  const bool from_reference = unconfirmed || far || (strays && question.is_own_run);
  return {units.largest || (question.expected_file.empty() && from_reference),
          units.of_own_run || (strays && !question.is_own_run)};
}

// Instances have cores of their own, or there is nothing to compare.
void choose_pinning(CaseRun& c) {
  const auto& settings = c.definition.settings;
  const bool instances = instances_of(settings) > 0;
  if (!settings.flag("pin") && !instances) return;
  const auto wanted = all_threads(c.base);
  const auto processes = c.base.inference.load.instances;
  c.base.pin_cpus = host::choose_cpus_near(cpus_near_instances(c.base, host::gpu_places), wanted / processes);
  if (!instances || c.ended || c.base.pin_cpus.size() == static_cast<std::size_t>(wanted)) return;
  end_case(c, "unavailable",
           fmt::format("{} instances of {} threads need {} separate CPUs, and {} may be used", processes,
                       wanted / processes, wanted, c.base.pin_cpus.size()));
}

class InferenceInRun : public KindInRun {
 public:
  explicit InferenceInRun(const KindTools& tools)
      : tools_(tools),
        kept_(tools_),
        preparation_(tools, graph_, kept_),
        peaks_(tools.setup, tools.run_dir, tools.observer, tools.interrupt),
        gpu_peaks_(tools) {}

  void open(CaseRun& c) override {
    c.base = base_pass(c.definition, static_cast<int>(host::allowed_cpus().size()));
    describe_given_file(c);
    const auto role = plugin::Role::kEngine;
    const auto engine = c.base.engine();
    const auto home =
        home_here(tools_.setup.engines, role, engine, device_name(device_of(c.definition.settings)));
    c.base.use(role, engine, home.file.string());
    if (home.file.empty()) return end_case(c, "unavailable", home.unavailable);
    if (const auto why = unusable_part(c.base.model.file); !why.empty()) return end_case(c, "data", why);
    if (auto why = memory_of_device(c); !why.empty()) return end_case(c, "oom", why);
    choose_pinning(c);
  }
  void prepare(CaseRun& c) override;
  void restore_check(CaseRun& c, const pass::PassReport& report) override {
    fill_peaks(c);
    apply_check(c, report);
  }
  void finish(const std::vector<CaseRun*>& cases) override {
    for (auto* c : cases) cross_check_case(*c);
    for (auto* c : cases) profile(*c);
    peaks_.conclude(cases);
    gpu_peaks_.conclude(cases);
  }
  void compare(const std::vector<CaseRun*>& cases, const std::vector<std::string>& resumed_utc) override {
    std::vector<result::CaseResult*> results;
    for (auto* c : cases)
      if (!c->result.repetitions.empty()) results.push_back(&c->result);
    result::compare_replicas(results, resumed_utc);
  }

 private:
  // Why a device cannot hold an inference; the worker that makes the inputs judges the host.
  [[nodiscard]] std::string memory_of_device(const CaseRun& c) const {
    return device_of(c.definition.settings).kind == DeviceKind::kCpu ? ""
                                                                     : memory_obstacle(c.definition, memory_);
  }
  void fill_peaks(CaseRun& c) {
    peaks_.fill(c);
    gpu_peaks_.fill(c);
  }
  bool make_files(CaseRun& c, pass::PassSpec& pass);
  [[nodiscard]] bool times_first(const CaseRun& c) const;
  void judge(CaseRun& c, const pass::PassSpec& pass);
  process::WorkerOutcome check(CaseRun& c, const pass::PassSpec& pass);
  void take_check(CaseRun& c, const process::WorkerOutcome& outcome);
  void cross_check_case(CaseRun& c);
  void profile(CaseRun& c);

  KindTools tools_;
  Graph graph_;
  const KeptPasses kept_;
  CasePreparation preparation_;
  CasePeaks peaks_;
  GpuPeaks gpu_peaks_;
  MemoryHere memory_ = memory_here();
};

void InferenceInRun::prepare(CaseRun& c) {
  fill_peaks(c);
  auto pass = check_pass(c.base);
  if (!make_files(c, pass)) return;
  if (!times_first(c)) return judge(c, pass);
  c.later_check = {tools_.scratch / ("checked-" + c.definition.id + ".json"),
                   [this, &c, pass] { judge(c, pass); }};
}

// Whether its figure is there before its outputs are checked: where it is all that the run measures, and the
// timed process may wait beside those that check it.
bool InferenceInRun::times_first(const CaseRun& c) const {
  const auto& load = c.base.inference.load;
  const bool alone = tools_.setup.cases.size() == 1 && c.result.repetitions_planned == 1 &&
                     !tools_.setup.in_process && c.result.repetitions.empty();
  const bool checked = c.result.correctness.checked || !c.result.precision.executed.empty();
  const bool simple = traits_of(load.scenario).one_at_a_time && load.instances <= 1 &&
                      device_of(c.definition.settings).kind == DeviceKind::kCpu;
  return alone && !checked && simple && c.definition.settings.text("accuracy.check") != "off" &&
         leaves_room_beside(c, memory_);
}

// Makes the reference, checks the outputs against it, and tells the timed passes what they need of both. An
// engine that the first unit of errors fails is judged again by the largest, which takes longer to find.
void InferenceInRun::judge(CaseRun& c, const pass::PassSpec& given) {
  const bool known = c.result.correctness.checked || !c.result.precision.executed.empty();  // restored
  CasePreparation::Units units;
  for (bool again = true; again;) {
    auto pass = given;
    if (!preparation_.make_reference(c, pass, units)) return;
    use_model_file(c, pass);
    c.base.inference.samples = pass.inference.samples;
    c.base.inference.reference_file = pass.inference.reference_file;
    c.base.inference.reference_name = pass.inference.reference_name;
    if (known && !lacks_dump(c)) break;
    const auto outcome = check(c, pass);
    const auto before = std::exchange(units, needed_units(outcome.report.correctness, pass, units));
    again = outcome.ok && units != before;
    if (again)
      std::filesystem::remove(c.record_file(pass::PassKind::kCheck, 0));  // --resume takes the last word
    else
      take_check(c, outcome);
  }
  pass::use_limits(c.base.inference, c.result.benchmark.precision);
  c.base.inference.output_tolerances = timed_tolerances(c.base.inference.tolerance, c.result.correctness);
}

// Files of the check pass, which the timed passes share. False: the case has ended, or the run is
// interrupted.
bool InferenceInRun::make_files(CaseRun& c, pass::PassSpec& pass) {
  try {
    const auto made = prepare_check_files(
        c.definition, graph_, tools_.scratch, [&](const pass::PassSpec& spec) { return kept_.run(c, spec); },
        pass);
    c.result.picture_parts = result::picture_parts(made.pictures, c.definition.settings.number("confidence"));
    c.result.pictures_left_out = made.left_out;
  } catch (const PassFailure& e) {
    const bool unreadable = e.reason_code() == "io";  // a file that the user named
    if (!tools_.interrupt) end_case(c, unreadable ? "data" : e.reason_code(), e.what());
    return false;
  } catch (const host::OutOfMemory& e) {
    end_case(c, "oom", e.what());
    return false;
  } catch (const Error& e) {
    const bool internal = e.code() == ErrorCode::kInternal;  // such as no process
    end_case(c, e.code() == ErrorCode::kConfig ? "config" : internal ? "error" : "data", e.what());
    return false;
  }
  c.base.inference.input_files = pass.inference.input_files;
  c.base.inference.samples = pass.inference.samples;
  return preparation_.make_model(c);
}

process::WorkerOutcome InferenceInRun::check(CaseRun& c, const pass::PassSpec& given) {
  auto pass = given;
  if (asks_dump(c)) pass.inference.dump_folder = dump_folder(c);
  const PassInfo info{0, 0, c.result.label, "check", 0, 0, c.definition.id};
  tools_.observer.pass_begins(info);
  auto outcome = tools_.runner.run_kept(c, pass);
  tools_.observer.pass_ends(info, outcome.ok ? "" : outcome.reason);
  return outcome;
}

// The last word about the case.
void InferenceInRun::take_check(CaseRun& c, const process::WorkerOutcome& outcome) {
  if (outcome.ok)
    apply_check(c, outcome.report);
  else if (!tools_.interrupt)
    end_case(c, outcome.reason_code, outcome.reason);
  // No check, no number.
  if (!outcome.ok || c.no_reference.empty() || c.ended) return;
  c.result.lacks_reference = true;
  end_case(c, "reference", c.no_reference);
}

void InferenceInRun::cross_check_case(CaseRun& c) {
  if (!asks_cross_check(c) || !c.selected || !c.result.complete || c.result.cross_check.ratio.value ||
      tools_.interrupt)
    return;
  const CrossCheckHelpers helpers{
      tools_.temp_folder / ("cross-check-" + c.definition.id),
      [&](const pass::PassSpec& pass) { return tools_.runner.run(c, pass); },
      [&] { wait_for_quiet(c.definition, QuietCheck::kShort, tools_.observer, tools_.interrupt); }};
  cross_check(c, helpers, tools_.observer, tools_.interrupt);
  tools_.keep(c);
}

void InferenceInRun::profile(CaseRun& c) {
  if (!asks_layer_profile(c) || !c.selected || !c.result.complete || c.result.layer_profile.sum_ns ||
      tools_.interrupt)
    return;
  auto pass = profile_pass(c.definition, c.base);
  use_model_file(c, pass);
  apply_layer_profile(
      c, pass.inference.input_files.empty() ? not_prepared() : tools_.runner.run_announced(c, pass));
  tools_.keep(c);
}

}  // namespace

std::unique_ptr<KindInRun> make_inference(const KindTools& tools) {
  return std::make_unique<InferenceInRun>(tools);
}

}  // namespace paceline::run
