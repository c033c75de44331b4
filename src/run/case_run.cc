// SPDX-License-Identifier: MIT
#include "run/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/file.h"
#include "config/precision_table.h"
#include "result/aligned_steps.h"
#include "result/noise_rules.h"
#include "result/summarize.h"
#include "result/summarize_load.h"
#include "result/summarize_training.h"
#include "run/case_identity.h"
#include "run/peak.h"
#include "run/train_factory.h"
#include "workload/precision_limits.h"

namespace paceline::run {
namespace {

constexpr std::array<std::string_view, 6> kSkipCodes{"unsupported", "unavailable",        "not_available_yet",
                                                     "interrupted", result::kNotMeasured, result::kTrained};
constexpr std::size_t kLogTailBytes = 2000;

result::NoiseProfile noise_profile(const CaseRun& run) {
  return run.definition.settings.text("profile") == "quiet" ? result::NoiseProfile::kQuiet
                                                            : result::NoiseProfile::kShared;
}

// What happened to the instances of a repetition, with the accounts; empty when all lived.
std::string instance_death(const std::vector<result::Repetition>& repetitions, std::int64_t index) {
  std::string words;
  for (const auto& r : repetitions) {
    if (r.index != index || r.load.empty()) continue;
    const auto& load = r.load.front();
    result::InstanceLoad sum;
    for (const auto& one : load.instances) {
      if (!one.died.empty())
        words += fmt::format("instance {} of {}: {}; ", one.index + 1, load.instances.size(), one.died);
      sum.claimed += one.claimed, sum.completed += one.completed, sum.failed += one.failed;
      sum.timed_out += one.timed_out, sum.unfinished += one.unfinished;
    }
    if (words.empty()) continue;
    words += fmt::format(
        "of {} requests claimed {} were completed, {} failed with it, {} timed out, {} unfinished",
        sum.claimed, sum.completed, sum.failed, sum.timed_out, sum.unfinished);
  }
  return words;
}

// The step tables of the ranks become figures of the repetition, and its samples.
std::vector<result::Sample> take_steps(CaseRun& run, result::Repetition& repetition,
                                       const workload::PassReport& report) {
  if (repetition.training.empty()) repetition.training.emplace_back();
  result::summarize_training(repetition.training.front(), report.rank_steps,
                             samples_per_step(run.definition));
  run.rank_steps[repetition.index] = report.rank_steps;
  return result::step_samples(report.rank_steps, static_cast<std::int32_t>(repetition.index));
}

bool is_measured(const CaseRun& run, std::int64_t repetition) {
  const auto& all = run.result.repetitions;
  return std::any_of(all.begin(), all.end(), [&](const auto& r) { return r.index == repetition; });
}

void write_rank_files(const CaseRun& run) {
  std::map<std::int64_t, std::string> ranks;
  for (const auto& [repetition, tables] : run.rank_steps)
    for (const auto& table : tables)
      ranks[table.rank.rank] += result::rank_steps_jsonl(table, repetition, !is_measured(run, repetition));
  if (run.definition.settings.flag("benchmark.log_step_times"))
    for (const auto& [rank, text] : ranks)
      write_file_atomic(run.dir / fmt::format("rank{}.jsonl", rank), text);
  std::string epochs;
  for (const auto& r : run.result.repetitions)
    for (const auto& training : r.training) epochs += result::epochs_jsonl(training.epochs, r.index);
  write_file_atomic(run.dir / "metrics_epoch.jsonl", epochs);
}

void summarize_training_case(CaseRun& run) {
  run.result.training = result::combined_training(run.result.repetitions);
  for (auto& training : run.result.training) {
    for (auto& note : training_notes(run.definition, run.base.train.device))
      training.notes.push_back(std::move(note));
    if (auto crowded = crowding_note(training); !crowded.empty())
      training.notes.push_back(std::move(crowded));
  }
}

std::string executed_text(const result::PrecisionReadBack& p) {
  std::string text;
  for (const auto& e : p.executed)
    text += fmt::format("{}{:.0f} % {} ({} operators)", text.empty() ? "" : ", ", e.flops_share * 100,
                        e.precision, e.operators);
  return text;
}

// What the engine or the trainer says of itself; the timed process has the last word.
void take_description(CaseRun& run, const workload::PassReport& report) {
  for (const auto& [name, value] : report.effective_settings) run.result.effective_settings[name] = value;
  for (const auto& [library, version] : report.versions)
    run.result.effective_settings["version." + library] = version;
}

// What the check pass read back of the engine.
void take_readings(CaseRun& run, const workload::PassReport& report) {
  run.result.correctness = report.correctness;
  run.result.precision = report.precision;
  // Where a file's own precision is asked for, what ran is the case's, whatever the check finds.
  const std::string ran = workload::dominant_precision(report.precision);
  if (!ran.empty() && run.definition.settings.text("precision") == config::kPrecisionOfFile)
    run.result.benchmark.precision = ran;
  run.result.precision.asked = run.definition.settings.text("precision");
  if (report.tensor_peak_bytes) run.result.memory.tensor_peak_bytes = report.tensor_peak_bytes;
  run.result.memory.reserved_peak_bytes = report.reserved_peak_bytes;
  if (!run.result.flops.model_flops_per_item && report.flops_per_item) {
    run.result.flops.model_flops_per_item = report.flops_per_item;
    run.result.flops.convention =
        "counted by the engine in one inference; 2 x MAC of convolutions and matrix products";
  }
  run.result.effective_settings.clear();
  take_description(run, report);
}

// An executed precision other than the one asked for ends the case.
void judge_precision(CaseRun& run) {
  const std::string ran = workload::dominant_precision(run.result.precision),
                    asked = arithmetic_of(run.result.benchmark.precision);
  if (!ran.empty() && ran != asked && !run.definition.settings.flag("allow_precision_fallback"))
    end_case(run, "precision",
             fmt::format("asked {}, ran {} ({}); --allow-precision-fallback keeps such a case, marked", asked,
                         executed_text(run.result.precision), run.result.precision.source));
}

// In place of one of the same index, in order.
void insert_repetition(CaseRun& run, result::Repetition repetition,
                       const std::vector<result::Sample>& samples) {
  auto& repetitions = run.result.repetitions;
  std::erase_if(repetitions, [&](const auto& r) { return r.index == repetition.index; });
  std::erase_if(run.samples, [&](const auto& s) { return s.repetition == repetition.index; });
  repetitions.push_back(std::move(repetition));
  run.samples.insert(run.samples.end(), samples.begin(), samples.end());
  std::sort(repetitions.begin(), repetitions.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  std::sort(run.samples.begin(), run.samples.end(), [](const auto& a, const auto& b) {
    return std::tie(a.repetition, a.index) < std::tie(b.repetition, b.index);
  });
}

// A case has a grade once it has a repetition, and keeps it as long as nothing is wrong with it.
void grade(CaseRun& run) {
  auto& result = run.result;
  result::apply_noise_rules(result, noise_profile(run));
  result::apply_load_rules(result);
  if (result.outcome == result::Outcome::kOk) return;
  result.grade = result::Grade::kNone;
  result.grade_reasons.clear();
}

// Complete, unless what the repetition brought is not worth keeping.
void conclude_repetition(CaseRun& run, const workload::PassReport& report) {
  const auto& repetitions = run.result.repetitions;
  run.result.complete = run.all_there();
  run.ended = run.result.complete && run.again.empty();
  if (report.correctness.checked && !report.correctness.passed)
    end_case(run, "accuracy", fmt::format("accuracy: after the timed loop: {}", report.correctness.detail));
  if (const auto died = instance_death(repetitions, report.repetition.index); !died.empty())
    end_case(run, "instance", died);
}

// Nothing is measured of what was trained before; what was measured earlier, or by other repetitions, stands.
void apply_trained(CaseRun& run, const workload::PassReport& report) {
  if (!is_measured(run, report.repetition.index)) run.trained.insert(report.repetition.index);
  if (!run.all_there()) return;
  if (run.result.repetitions.empty()) return end_case(run, result::kTrained, report.trained);
  run.result.complete = true;
  run.ended = run.again.empty();
}

}  // namespace

bool CaseRun::all_there() const {
  return static_cast<std::int64_t>(result.repetitions.size() + trained.size()) >= result.repetitions_planned;
}

std::filesystem::path CaseRun::record_file(workload::PassKind kind, std::int64_t repetition) const {
  const auto passes = dir / "passes";
  make_directories(passes);
  const bool timed = kind == workload::PassKind::kTimed || kind == workload::PassKind::kTrain;
  return passes / (timed ? fmt::format("timed-{}.jsonl", repetition) : std::string("check.jsonl"));
}

void set_passes_aside(const CaseRun& run) {
  namespace fs = std::filesystem;
  int number = 1;
  while (fs::exists(run.dir / fmt::format("passes.{}", number))) ++number;
  std::error_code error;
  fs::rename(run.dir / "passes", run.dir / fmt::format("passes.{}", number), error);
}

void end_case(CaseRun& run, const std::string& code, const std::string& reason) {
  const bool skip = std::find(kSkipCodes.begin(), kSkipCodes.end(), code) != kSkipCodes.end();
  run.result.outcome = skip ? result::Outcome::kSkipped : result::Outcome::kFailed;
  run.result.reason_code = code;
  run.result.reason = reason;
  if (!skip) run.result.log_tail = file_tail(run.log(), kLogTailBytes);
  run.result.complete = false;
  run.result.grade = result::Grade::kNone;
  run.result.grade_reasons.clear();
  run.ended = true;
}

void apply_model_file(CaseRun& run, const std::string& file, const workload::PreparedFile& prepared) {
  run.model_file = file;
  run.result.model_file = {prepared.format, prepared.size_bytes, prepared.duration_ns, prepared.quantisation};
}

void describe_given_file(CaseRun& run) {
  const std::filesystem::path file = run.base.model.file;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  if (file.empty() || error) return;
  run.result.model_file.format = file.extension().string();
  run.result.model_file.size_bytes = static_cast<std::int64_t>(bytes);
}

void use_model_file(const CaseRun& run, workload::PassSpec& pass) {
  if (run.model_file.empty()) return;
  pass.model.name.clear();
  pass.model.file = run.model_file;
}

void apply_check(CaseRun& run, const workload::PassReport& report) {
  take_readings(run, report);
  if (report.correctness.checked && !report.correctness.passed)
    return end_case(run, "accuracy",
                    fmt::format("accuracy: {} (against {}, {} inputs)", report.correctness.detail,
                                report.correctness.reference, report.correctness.samples));
  if (const auto it = report.effective_settings.find("threads");
      it != report.effective_settings.end() && it->second != fmt::format("{}", run.base.settings.threads))
    return end_case(
        run, "threads",
        fmt::format("asked for {} threads, the engine runs with {}", run.base.settings.threads, it->second));
  judge_precision(run);
}

void apply_repetition(CaseRun& run, const workload::PassReport& report) {
  run.again.erase(report.repetition.index);
  if (!report.trained.empty()) return apply_trained(run, report);
  result::Repetition repetition = report.repetition;
  auto samples = report.samples;
  try {
    if (run.trains()) samples = take_steps(run, repetition, report);
  } catch (const Error& e) {
    return end_case(run, "data", e.what());
  }
  if (!run.trains()) {  // the check pass measured them
    repetition.memory.tensor_peak_bytes = run.result.memory.tensor_peak_bytes;
    repetition.memory.reserved_peak_bytes = run.result.memory.reserved_peak_bytes;
  }
  result::summarize_repetition(repetition, result::latencies_ns(samples));
  for (auto& load : repetition.load) result::summarize_load(load, run.result.benchmark.scenario, samples);
  result::apply_noise_rules(repetition, noise_profile(run));
  insert_repetition(run, std::move(repetition), samples);
  if (run.result.reason_code == result::kNotMeasured) {
    run.result.outcome = result::Outcome::kOk;
    run.result.reason_code.clear();
    run.result.reason.clear();
  }
  take_description(run, report);
  conclude_repetition(run, report);
  resummarize(run);
  if (run.trains()) write_rank_files(run);
}

std::string keep_interrupted_steps(CaseRun& run, std::int64_t repetition,
                                   const workload::PassReport& report) {
  if (report.rank_steps.empty() || report.rank_steps.front().rows.empty()) return {};
  if (!run.definition.settings.flag("benchmark.log_step_times"))
    return "its steps are not kept (benchmark.log_step_times: false)";
  run.rank_steps[repetition] = report.rank_steps;
  write_rank_files(run);
  const auto& rows = report.rank_steps.front().rows;
  const auto timed = std::count_if(rows.begin(), rows.end(), [](const result::StepRow& row) {
    return row.phase == result::StepPhase::kTimed;
  });
  run.interrupted = fmt::format(
      "its steps up to {}, of which {} are timed, are in rank<k>.jsonl and in no "
      "statistic",
      rows.back().step, timed);
  return run.interrupted;
}

void resummarize(CaseRun& run) {
  result::SummaryOptions options;
  options.confidence = run.definition.settings.number("confidence");
  options.items_per_iteration = items_per_iteration(run.definition);
  options.item = item_name(run.definition);
  if (!run.result.repetitions.empty() && run.result.repetitions.front().overhead.timer_resolution_ns)
    options.timer_resolution_ns = *run.result.repetitions.front().overhead.timer_resolution_ns;
  result::summarize(run.result, run.samples, options);
  grade(run);
  if (run.trains()) summarize_training_case(run);
}

bool asks_layer_profile(const CaseRun& run) {
  return run.definition.settings.has("layer_profile") && run.definition.settings.flag("layer_profile");
}

WorkerOutcome not_prepared() {
  WorkerOutcome outcome;
  outcome.reason = "the case was finished before this --resume; measure it again with --only";
  return outcome;
}

void apply_layer_profile(CaseRun& run, const WorkerOutcome& outcome) {
  auto& profile = run.result.layer_profile;
  if (!outcome.ok) {
    profile = {};
    profile.asked = true;
    profile.reason = outcome.reason;
    return;
  }
  auto rows = outcome.report.layers;
  const bool alone = run.result.load.empty();
  profile = result::summarize_layers(
      rows, alone ? run.result.headline.p50_ns.value
                  : result::Number::missing("latencies here hold more than one inference (scenario)"));
  profile.source = outcome.report.layers_source;
  profile.statistic = "median";
  profile.inferences = outcome.report.layers_inferences;
  profile.file = "layers.csv";
  write_file_atomic(run.dir / profile.file, result::layers_to_csv(rows));
}

}  // namespace paceline::run
