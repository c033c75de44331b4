// SPDX-License-Identifier: MIT
#include "run/case/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/file.h"
#include "result/figures/device_figures.h"
#include "result/figures/summarize.h"
#include "result/figures/summarize_load.h"
#include "result/judged/noise_rules.h"
#include "result/judged/reasons.h"
#include "result/judged/reference.h"
#include "run/case/case_identity.h"
#include "run/case/kind_rules.h"

namespace paceline::run {
namespace {

constexpr std::size_t kLogTailBytes = 2000;

result::NoiseProfile noise_profile(const CaseRun& run) {
  return run.definition.settings.text("profile") == "quiet" ? result::NoiseProfile::kQuiet
                                                            : result::NoiseProfile::kShared;
}

// Names the instances of a repetition that died, with the accounts; empty if all lived.
std::string instance_death(const std::vector<result::Repetition>& repetitions, std::int64_t index) {
  std::string words;
  for (const auto& r : repetitions) {
    if (r.index != index || !r.load()) continue;
    const auto& load = *r.load();
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

// In place of those of the same repetition, in order.
void insert_sampled(CaseRun& run, std::int64_t repetition, std::vector<result::SampledWindow> windows) {
  std::erase_if(run.sampled, [&](const auto& window) { return window.repetition == repetition; });
  for (auto& window : windows) {
    window.repetition = repetition;
    run.sampled.push_back(std::move(window));
  }
  std::ranges::stable_sort(run.sampled, {}, &result::SampledWindow::repetition);
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
void conclude_repetition(CaseRun& run, const pass::PassReport& report) {
  const auto& repetitions = run.result.repetitions;
  run.result.complete = run.all_there();
  run.ended = run.result.complete && run.again.empty();
  if (result::is_wrong(report.correctness))
    end_case(run, "accuracy", fmt::format("accuracy: after the timed loop: {}", report.correctness.detail));
  if (const auto died = instance_death(repetitions, report.repetition.index); !died.empty())
    end_case(run, "instance", died);
}

// Nothing is measured of what was trained before; what was measured earlier, or by other repetitions, stands.
void apply_trained(CaseRun& run, const pass::PassReport& report) {
  if (!run.measured(report.repetition.index)) run.trained.insert(report.repetition.index);
  if (!run.all_there()) return;
  if (run.result.repetitions.empty())
    return end_case(run, result::kTrained, report.get<pass::TrainingReport>().trained);
  run.result.complete = true;
  run.ended = run.again.empty();
}

}  // namespace

bool CaseRun::all_there() const {
  return static_cast<std::int64_t>(result.repetitions.size() + trained.size()) >= result.repetitions_planned;
}

std::filesystem::path CaseRun::record_file(pass::PassKind kind, std::int64_t repetition) const {
  const auto passes = dir / "passes";
  make_directories(passes);
  return passes / (pass::traits_of(kind).timed ? fmt::format("timed-{}.jsonl", repetition)
                                               : std::string("check.jsonl"));
}

bool CaseRun::measured(std::int64_t repetition) const {
  const auto& all = result.repetitions;
  return std::any_of(all.begin(), all.end(), [&](const auto& r) { return r.index == repetition; });
}

bool CaseRun::needs(std::int64_t repetition) const {
  if (ended || !selected) return false;
  return again.contains(repetition) || (!trained.contains(repetition) && !measured(repetition));
}

void set_passes_aside(const CaseRun& run) {
  namespace fs = std::filesystem;
  int number = 1;
  while (fs::exists(run.dir / fmt::format("passes.{}", number))) ++number;
  std::error_code error;
  fs::rename(run.dir / "passes", run.dir / fmt::format("passes.{}", number), error);
}

void end_case(CaseRun& run, const std::string& code, const std::string& reason) {
  const bool skip = result::reason_of(code).skips;
  run.result.outcome = skip ? result::Outcome::kSkipped : result::Outcome::kFailed;
  run.result.reason_code = code;
  run.result.reason = reason;
  if (!skip) run.result.log_tail = file_tail(run.log(), kLogTailBytes);
  run.result.complete = false;
  run.result.grade = result::Grade::kNone;
  run.result.grade_reasons.clear();
  run.ended = true;
}

void take_description(CaseRun& run, const pass::PassReport& report) {
  for (const auto& [name, value] : report.effective_settings) run.result.effective_settings[name] = value;
  for (const auto& [library, version] : report.versions)
    run.result.effective_settings["version." + library] = version;
}

void use_model_file(const CaseRun& run, pass::PassSpec& pass) {
  if (run.model_file.empty()) return;
  pass.model.name.clear();
  pass.model.file = run.model_file;
}

void apply_repetition(CaseRun& run, pass::PassReport report) {
  run.again.erase(report.repetition.index);
  if (!report.get<pass::TrainingReport>().trained.empty()) return apply_trained(run, report);
  result::Repetition repetition = report.repetition;
  const auto& rules = kind_rules(run.definition.kind);
  std::vector<result::Sample> samples;
  try {
    samples = rules.take(run, repetition, report);
  } catch (const Error& e) {
    return end_case(run, "data", e.what());
  }
  result::summarize_repetition(repetition, result::latencies_ns(samples));
  if (repetition.load()) result::summarize_load(*repetition.load(), run.result.benchmark.scenario, samples);
  result::apply_noise_rules(repetition, noise_profile(run));
  insert_sampled(run, repetition.index, std::move(report.sampled));
  insert_repetition(run, std::move(repetition), samples);
  if (run.result.reason_code == result::kNotMeasured) {
    run.result.outcome = result::Outcome::kOk;
    run.result.reason_code.clear();
    run.result.reason.clear();
  }
  take_description(run, report);
  conclude_repetition(run, report);
  resummarize(run);
  rules.write_files(run);
}

void resummarize(CaseRun& run) {
  result::SummaryOptions options;
  options.confidence = run.definition.settings.number("confidence");
  const auto& rules = kind_rules(run.definition.kind);
  options.items_per_iteration = rules.items_per_iteration(run.definition);
  options.item = rules.item(run.definition);
  if (!run.result.repetitions.empty() && run.result.repetitions.front().overhead.timer_resolution_ns)
    options.timer_resolution_ns = *run.result.repetitions.front().overhead.timer_resolution_ns;
  result::summarize(run.result, run.samples, options);
  run.result.sampled = result::summarize_sampled(run.sampled);
  const auto items = [&](const result::SampledWindow& window) {
    return result::items_in_window(run.result, run.samples, options.items_per_iteration, window);
  };
  run.result.devices = result::summarize_devices(run.sampled, items, run.idle);
  run.result.cpu_power = result::summarize_cpu_power(run.sampled, items, run.idle);
  rules.summarize(run);
  grade(run);
}

}  // namespace paceline::run
