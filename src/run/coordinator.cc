// SPDX-License-Identifier: MIT
#include "run/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "base/units.h"
#include "config/device.h"
#include "config/vocabulary.h"
#include "host/affinity.h"
#include "host/idle_gate.h"
#include "result/result_json.h"
#include "result/summarize.h"
#include "result/summarize_training.h"
#include "run/artefacts.h"
#include "run/case_preparation.h"
#include "run/case_run.h"
#include "run/check_files.h"
#include "run/cross_check.h"
#include "run/launch.h"
#include "run/pass_factory.h"
#include "run/peak.h"
#include "run/restarts.h"
#include "run/schedule.h"
#include "run/train_here.h"
#include "run/worker.h"

namespace paceline::run {
namespace {

using workload::PassKind;

constexpr double kShortLookS = 0.5;

std::string utc_now() {
  return format_utc(std::time(nullptr));
}

// Null where the system does not tell.
std::string cpu_model(const nlohmann::json& environment) {
  const auto model = environment.value(nlohmann::json::json_pointer("/cpu/model"), nlohmann::json());
  return model.is_string() ? model.get<std::string>() : "unknown CPU";
}

bool trains(const CaseRun& c) {
  return c.definition.kind == config::WorkloadKind::kTraining;
}

class Coordinator {
 public:
  Coordinator(RunSetup setup, result::RunDirectory& directory, RunObserver& observer,
              const std::atomic<bool>& interrupt)
      : setup_(std::move(setup)),
        directory_(directory),
        observer_(observer),
        interrupt_(interrupt),
        artefacts_(directory.path()),
        preparation_(setup_.engines, artefacts_, directory.path(), observer, interrupt,
                     [this](CaseRun& c, const workload::PassSpec& pass) { return run_pass(c, pass, false); }),
        peaks_(setup_.engines, cpu_model(setup_.environment), directory.path() / "log.txt") {}

  result::RunResult run() {
    start();
    for (auto& c : cases_)
      if (!c.ended && c.selected && !interrupt_ && !trains(c)) check(c);
    time_cases();
    cross_check_cases();
    profile_cases();
    return finish();
  }

 private:
  void start();
  void open_case(const config::Case& definition);
  static void choose_pinning(CaseRun& c);
  void open_training(CaseRun& c);
  void restore(CaseRun& c);
  void restore_repetitions(CaseRun& c);
  [[nodiscard]] bool asked_again(const CaseRun& c) const;
  void check(CaseRun& c);
  void fill_flops(CaseRun& c);
  void fill_peak(CaseRun& c);
  void recheck_peaks();
  [[nodiscard]] std::vector<TimedSlot> order() const;
  [[nodiscard]] bool still_to_do(const TimedSlot& slot) const;
  void time_cases();
  void keep_extras(CaseRun& c) const;
  void profile_cases();
  void profile(CaseRun& c);
  void cross_check_cases();
  void time_one(CaseRun& c, std::int64_t repetition, const PassInfo& info);
  void wait_for_quiet(const CaseRun& c, std::int64_t repetition);
  WorkerOutcome run_pass(CaseRun& c, const workload::PassSpec& pass, bool keep_records);
  void save(CaseRun& c);
  void compare_all();
  void compare_worlds();
  result::RunResult finish();

  RunSetup setup_;
  result::RunDirectory& directory_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
  Artefacts artefacts_;
  CasePreparation preparation_;
  PeakTable peaks_;
  std::vector<CaseRun> cases_;
  result::RunResult run_;
  std::size_t pass_number_ = 0;  // of the timed pass that runs, in the order of all
};

void Coordinator::start() {
  run_ = setup_.previous.folder.empty() ? result::RunResult{} : setup_.previous.run;
  run_.suite = setup_.suite;
  run_.experiment_name = setup_.plan.experiment_name;
  if (run_.run_id.empty()) run_.run_id = directory_.path().filename().string();
  if (run_.started_utc.empty()) run_.started_utc = utc_now();
  run_.finished_utc.clear();
  run_.outcome = "running";
  run_.command_line = setup_.command_line;
  run_.environment = setup_.environment;
  run_.findings.clear();
  run_.gates.clear();
  write_file_atomic(directory_.path() / "plan.yaml", config::effective_yaml(setup_.plan));
  auto environment = setup_.environment;
  environment["schema_version"] = result::kSchemaVersion;
  write_file_atomic(directory_.path() / "environment.json", result::json_text(environment));
  for (const auto& c : setup_.cases) open_case(c);
  std::size_t passes = 0, repetitions = 0;
  for (const auto& c : cases_) {
    repetitions = std::max(repetitions, static_cast<std::size_t>(c.result.repetitions_planned));
    if (!c.ended && c.selected)
      passes += static_cast<std::size_t>(c.result.repetitions_planned) - c.result.repetitions.size();
  }
  observer_.run_begins({run_.experiment_name, directory_.path().string(), cases_.size(), repetitions, passes,
                        &run_.environment});
  directory_.write_summary(run_);
}

void Coordinator::open_training(CaseRun& c) {
  const Launch* launch = setup_.launch;
  const auto here = train_here(c.definition, setup_.cases, setup_.engines, launch ? launch->hosts() : 1);
  c.base = here.pass;
  c.result.benchmark.threads = c.base.settings.threads;
  if (!here.unavailable.empty()) end_case(c, "unavailable", here.unavailable);
  if (launch && c.base.world_size > launch->place().world)
    end_case(c, "unavailable",
             fmt::format("{} ranks are asked for, and {} has started {}", c.base.world_size,
                         launch->place().launcher, launch->place().world));
  restore_repetitions(c);
}

void Coordinator::open_case(const config::Case& definition) {
  CaseRun c;
  c.definition = definition;
  c.dir = directory_.case_dir(definition.id);
  c.result = new_case_result(definition, run_.run_id);
  c.selected = setup_.only.empty() || setup_.only.contains(definition.id);
  if (!definition.not_available.empty()) {
    end_case(c, "not_available_yet", definition.not_available);
  } else if (trains(c)) {
    open_training(c);
  } else {
    c.base = base_pass(definition, static_cast<int>(host::allowed_cpus().size()));
    c.result.benchmark.threads = c.base.settings.threads;
    describe_given_file(c);
    const auto device = *config::canonical_device(definition.settings.text("device"));
    const auto home = engine_home(setup_.engines, c.base.engine, device);
    c.base.plugin_file = home.file.string();
    if (home.file.empty()) end_case(c, "unavailable", home.unavailable);
    choose_pinning(c);
    restore(c);
  }
  if (c.ended) observer_.case_ends(c.result);
  cases_.push_back(std::move(c));
  save(cases_.back());
}

// Instances have cores of their own, or there is nothing to compare.
void Coordinator::choose_pinning(CaseRun& c) {
  const auto& settings = c.definition.settings;
  const bool instances = settings.has("instances");
  if (!settings.flag("pin") && !instances) return;
  const auto wanted = c.base.settings.threads * static_cast<int>(c.base.load.lanes());
  c.base.pin_cpus = host::choose_cpus(wanted);
  if (!instances || c.ended || c.base.pin_cpus.size() == static_cast<std::size_t>(wanted)) return;
  end_case(
      c, "unavailable",
      fmt::format("{} instances of {} threads need {} CPUs of their own, and {} may be used",
                  c.base.load.instances, wanted / c.base.load.instances, wanted, c.base.pin_cpus.size()));
}

// --only with --resume names a case that is over: it is measured again.
bool Coordinator::asked_again(const CaseRun& c) const {
  if (setup_.only.empty() || !c.selected) return false;
  const auto& cases = setup_.previous.run.cases;
  return std::any_of(cases.begin(), cases.end(), [&](const result::CaseResult& r) {
    return r.case_id == c.definition.id && (r.complete || r.outcome == result::Outcome::kFailed);
  });
}

// What an earlier run into this directory finished: the check and the repetitions whose record files are
// complete.
void Coordinator::restore(CaseRun& c) {
  if (setup_.previous.folder.empty() || c.ended) return;
  if (asked_again(c)) return set_passes_aside(c);
  const auto checked = read_record_file(c.record_file(PassKind::kCheck, 0));
  if (!checked) return;
  fill_flops(c);
  apply_check(c, *checked);
  restore_repetitions(c);
  keep_extras(c);
}

void Coordinator::restore_repetitions(CaseRun& c) {
  if (setup_.previous.folder.empty() || c.ended) return;
  if (trains(c) && asked_again(c)) return set_passes_aside(c);
  for (std::int64_t r = 0; r < c.result.repetitions_planned && !c.ended; ++r)
    if (const auto report = read_record_file(c.record_file(PassKind::kTimed, r)))
      apply_repetition(c, *report);
}

// What an earlier run into this directory measured beside the repetitions.
void Coordinator::keep_extras(CaseRun& c) const {
  for (const auto& before : setup_.previous.run.cases) {
    if (before.case_id != c.definition.id) continue;
    if (before.cross_check.ratio.value) c.result.cross_check = before.cross_check;
    if (before.layer_profile.sum_ns) c.result.layer_profile = before.layer_profile;
  }
}

WorkerOutcome Coordinator::run_pass(CaseRun& c, const workload::PassSpec& pass, bool keep_records) {
  WorkerRequest request{pass, c.definition.env, c.log(),
                        keep_records ? c.record_file(pass.kind, pass.repetition) : std::filesystem::path(),
                        timeout_of(c.definition)};
  request.env.emplace("TMPDIR", artefacts_.temp_folder().string());
  append_file(request.log, fmt::format("# {} {} pass, repetition {}\n", utc_now(),
                                       workload::pass_kind_name(pass.kind), pass.repetition));
  const auto on_progress = [&](const workload::ProgressRecord& p) {
    p.notice.empty() ? observer_.progress(p) : observer_.notice(p.notice);
  };
  if (pass.kind == PassKind::kTrain && setup_.launch)
    return setup_.launch->run_pass(pass_number_, request, interrupt_, on_progress);
  if (pass.kind == PassKind::kTrain)
    return run_ranks_restarting(request, {}, static_cast<int>(c.definition.settings.integer("max_restarts")),
                                interrupt_, on_progress);
  const bool here = setup_.in_process && pass.kind == PassKind::kTimed;
  return here ? run_in_process(request, interrupt_, on_progress)
              : run_worker(request, interrupt_, on_progress);
}

void Coordinator::check(CaseRun& c) {
  fill_flops(c);
  auto pass = check_pass(c.base);
  try {
    prepare_check_files(c.definition, artefacts_, pass);
  } catch (const Error& e) {
    end_case(c, e.code() == ErrorCode::kConfig ? "config" : "data", e.what());
  }
  if (!c.ended && preparation_.prepare(c, pass)) {
    use_model_file(c, pass);
    c.base.input_files = pass.input_files;
    c.base.samples = pass.samples;
    c.base.reference_file = pass.reference_file;
    c.base.reference_name = pass.reference_name;
    const bool known = c.result.correctness.checked || !c.result.precision.executed.empty();  // restored
    const PassInfo info{0, 0, c.result.label, "check", 0, 0};
    if (!known) {
      observer_.pass_begins(info);
      const auto outcome = run_pass(c, pass, true);
      observer_.pass_ends(info, outcome.ok ? "" : outcome.reason);
      if (outcome.ok)
        apply_check(c, outcome.report);
      else if (!interrupt_)
        end_case(c, outcome.reason_code, outcome.reason);
    }
    c.base.tolerance = timed_tolerance(c.base.tolerance, c.result.correctness);
  }
  if (c.ended) observer_.case_ends(c.result);
  save(c);
}

void Coordinator::fill_flops(CaseRun& c) {
  const auto* model = config::find_model(c.definition.settings.text("model"));
  if (!model || !model->forward_macs) {
    c.result.flops.model_flops_per_item = result::Number::missing("FLOPs of this model are not known");
    return;
  }
  const std::int64_t length = c.definition.settings.has("sequence_length")
                                  ? c.definition.settings.integer("sequence_length")
                                  : model->default_sequence_length;
  c.result.flops.model_flops_per_item = 2.0 * static_cast<double>(model->forward_macs(length));
  if (!setup_.measure_peaks) {
    c.result.flops.peak_measured_flops_per_s = result::Number::missing("not asked for (measure_peak: false)");
    return;
  }
  fill_peak(c);
}

void Coordinator::fill_peak(CaseRun& c) {
  if (c.result.benchmark.params.contains("device")) {
    c.result.flops.peak_measured_flops_per_s =
        result::Number::missing("the peak is measured on the CPU only");
    return;
  }
  const auto peak = peaks_.get(c.result.benchmark.precision, c.base.settings.threads, observer_, interrupt_);
  c.result.flops.peak_measured_flops_per_s = peak.flops_per_s;
  c.result.flops.peak_source = peak.source;
}

// A case above its peak says that the peak was measured in a slow minute, or that its FLOPs are counted
// wrongly: one more measurement tells. What stays above has no share.
void Coordinator::recheck_peaks() {
  for (const auto& c : cases_)
    if (!interrupt_ && result::above_measured_peak(c.result.flops))
      peaks_.measure_again(c.result.benchmark.precision, c.base.settings.threads, observer_, interrupt_);
  for (auto& c : cases_) {
    if (!c.result.flops.peak_measured_flops_per_s || c.samples.empty()) continue;
    fill_peak(c);
    resummarize(c);
  }
}

// A full look before a case's first repetition, a short one before the others.
void Coordinator::wait_for_quiet(const CaseRun& c, std::int64_t repetition) {
  host::IdleGateOptions gate;
  gate.idle_wait_s = c.definition.settings.number("idle_wait_s");
  gate.allowed_cpus = static_cast<int>(host::allowed_cpus().size());
  if (repetition > 0) gate.window_s = kShortLookS;
  if (gate.idle_wait_s <= 0) return;
  auto seams = host::real_idle_gate_seams();
  seams.sleep = [this](double seconds) {
    for (; seconds > 0 && !interrupt_; seconds -= 0.1)
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(0.1, seconds)));
    return !interrupt_;
  };
  host::wait_until_quiet(
      gate, [&](const std::string& words) { observer_.warning(words); }, seams);
}

void Coordinator::time_one(CaseRun& c, std::int64_t repetition, const PassInfo& info) {
  wait_for_quiet(c, repetition);
  if (interrupt_) return;
  auto pass = c.base;
  pass.kind = trains(c) ? PassKind::kTrain : PassKind::kTimed;
  pass.repetition = repetition;
  use_model_file(c, pass);
  observer_.pass_begins(info);
  const auto outcome = run_pass(c, pass, true);
  if (outcome.ok) {
    auto report = outcome.report;
    report.repetition.index = repetition;
    apply_repetition(c, report);
  } else if (!interrupt_) {
    end_case(c, outcome.reason_code, outcome.reason);
  }
  observer_.pass_ends(info, outcome.ok ? "" : outcome.reason);
  if (c.ended) observer_.case_ends(c.result);
  compare_all();
  save(c);
}

// Every process of a launch has the same order, whichever cases have ended here.
std::vector<TimedSlot> Coordinator::order() const {
  if (setup_.launch) return launch_order(setup_.cases, setup_.only, setup_.launch->order_seed());
  std::vector<std::int64_t> repetitions;
  for (const auto& c : cases_)
    repetitions.push_back(c.ended || !c.selected ? 0 : c.result.repetitions_planned);
  return interleaved_order(repetitions, hash64(run_.run_id));
}

bool Coordinator::still_to_do(const TimedSlot& slot) const {
  const auto& have = cases_[slot.case_index].result.repetitions;
  return !cases_[slot.case_index].ended &&
         std::none_of(have.begin(), have.end(), [&](const auto& r) { return r.index == slot.repetition; });
}

void Coordinator::time_cases() {
  const auto slots = order();
  const auto count = static_cast<std::size_t>(
      std::count_if(slots.begin(), slots.end(), [&](const auto& slot) { return still_to_do(slot); }));
  const SteadyClock clock;
  const std::int64_t begin = clock.now_ns();
  std::size_t done = 0;
  for (pass_number_ = 0; pass_number_ < slots.size() && !interrupt_; ++pass_number_) {
    const auto& slot = slots[pass_number_];
    CaseRun& c = cases_[slot.case_index];
    if (!still_to_do(slot)) continue;
    const double seconds = static_cast<double>(clock.now_ns() - begin) * 1e-9;
    const double left =
        done == 0 ? 0 : seconds / static_cast<double>(done) * static_cast<double>(count - done);
    ++done;
    time_one(c, slot.repetition, {done, count, c.result.label, "timed", slot.repetition, left});
  }
}

void Coordinator::cross_check_cases() {
  for (auto& c : cases_) {
    if (!asks_cross_check(c) || !c.selected || !c.result.complete || c.result.cross_check.ratio.value)
      continue;
    if (interrupt_) return;
    const CrossCheckHelpers helpers{artefacts_.temp_folder() / ("cross-check-" + c.definition.id),
                                    [&](const workload::PassSpec& pass) { return run_pass(c, pass, false); },
                                    [&] { wait_for_quiet(c, 1); }};
    cross_check(c, helpers, observer_, interrupt_);
    save(c);
  }
}

void Coordinator::profile_cases() {
  for (auto& c : cases_)
    if (asks_layer_profile(c) && c.selected && c.result.complete && !c.result.layer_profile.sum_ns &&
        !interrupt_)
      profile(c);
}

void Coordinator::profile(CaseRun& c) {
  auto pass = profile_pass(c.definition, c.base);
  use_model_file(c, pass);
  const PassInfo info{0, 0, c.result.label, "profile", 0, 0};
  observer_.pass_begins(info);
  const auto outcome = pass.input_files.empty() ? not_prepared() : run_pass(c, pass, false);
  observer_.pass_ends(info, outcome.ok ? "" : outcome.reason);
  apply_layer_profile(c, outcome);
  save(c);
}

void Coordinator::compare_all() {
  compare_worlds();
  for (auto& c : cases_) {
    if (!c.definition.baseline_id || c.result.repetitions.empty()) continue;
    const auto base = std::find_if(cases_.begin(), cases_.end(), [&](const CaseRun& b) {
      return b.definition.id == *c.definition.baseline_id;
    });
    if (base == cases_.end()) continue;
    result::compare_to_baseline(c.result, base->result, c.definition.settings.number("confidence"),
                                c.definition.settings.text("profile") == "quiet" ? 0.03 : 0.05);
  }
}

// Of training: against the case of the fewest ranks that does the same.
void Coordinator::compare_worlds() {
  std::vector<result::CaseResult*> worlds;
  for (auto& c : cases_)
    if (trains(c) && !c.result.repetitions.empty()) worlds.push_back(&c.result);
  result::compare_scaling(worlds);
}

void Coordinator::save(CaseRun& c) {
  directory_.write_case(c.result, c.samples);
  if (!c.samples.empty()) c.result.samples = {"samples.csv", "csv", result::sample_columns(c.samples), {}};
  run_.cases.clear();
  for (const auto& other : cases_) run_.cases.push_back(other.result);
  directory_.write_summary(run_);
}

result::RunResult Coordinator::finish() {
  recheck_peaks();
  compare_all();
  for (auto& c : cases_) {
    if (!c.ended && c.result.repetitions.empty())
      end_case(
          c, "interrupted",
          c.selected ? "interrupted before its first repetition was finished" : "not selected by --only");
    save(c);
  }
  const bool failed = std::any_of(cases_.begin(), cases_.end(), [](const CaseRun& c) {
    return c.result.outcome == result::Outcome::kFailed;
  });
  run_.outcome = interrupt_ ? "interrupted" : failed ? "failed" : "ok";
  run_.finished_utc = utc_now();
  directory_.write_summary(run_);
  return run_;
}

}  // namespace

result::RunResult run_plan(RunSetup setup, result::RunDirectory& directory, RunObserver& observer,
                           const std::atomic<bool>& interrupt) {
  return Coordinator(std::move(setup), directory, observer, interrupt).run();
}

}  // namespace paceline::run
