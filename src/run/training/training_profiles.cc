// SPDX-License-Identifier: MIT
#include "run/training/training_profiles.h"

#include <fmt/format.h>

#include <system_error>

#include "base/file.h"
#include "base/units.h"

namespace paceline::run {
namespace {
namespace fs = std::filesystem;

constexpr const char* kTraceName = "trace_rank0.json";
constexpr const char* kTableName = "operators.csv";

void take_trace(const CaseRun& run, const fs::path& trace_file, result::OperatorProfile& profile) {
  std::error_code error;
  const auto target = run.dir / kTraceName;
  fs::rename(trace_file, target, error);
  const auto bytes = error ? 0 : fs::file_size(target, error);
  if (error) {
    profile.reason =
        fmt::format("no trace: it cannot be moved to '{}': {}", target.string(), error.message());
    return;
  }
  profile.trace = kTraceName;
  profile.trace_bytes = static_cast<std::int64_t>(bytes);
}

}  // namespace

bool asks_profile(const config::Case& c) {
  return c.settings.flag("profiling.enabled");
}

bool is_profile_due(const CaseRun& run) {
  return asks_profile(run.definition) && run.selected && run.result.complete &&
         (!run.result.operator_profile || !run.result.operator_profile->steps);
}

std::string no_profile_reason(const config::Case& c) {
  const auto& tool = c.settings.text("profiling.tool");
  const auto& trigger = c.settings.text("profiling.trigger");
  if (tool == "nsys" || tool == "ncu")
    return fmt::format(
        "the profile pass of a plan is Kineto's, beside which {} cannot run; type: paceline profile "
        "--tool {} -c PLAN.yaml",
        tool, tool);
  if (trigger == "manual")
    return fmt::format(
        "nothing here starts a profile by '{}'; leave profiling.trigger out, and a separate pass is profiled "
        "after the timed ones",
        trigger);
  return {};
}

std::string stall_reason(const config::Case& c, const result::CaseResult& measured) {
  if (c.settings.text("profiling.trigger") != "sync_stall_detection") return {};
  const double threshold = c.settings.number("profiling.sync_stall_threshold");
  const auto share =
      measured.training() ? measured.training()->exposed_share : Number::missing("it has no ranks");
  if (!share) return fmt::format("sync stalls are not known: {}", share.reason());
  if (*share >= threshold) return {};
  return fmt::format("sync stalls take {} of a step, less than profiling.sync_stall_threshold ({})",
                     format_percent(*share), format_percent(threshold));
}

pass::PassSpec train_profile_pass(const config::Case& c, pass::PassSpec base, const fs::path& trace_file) {
  base.kind = pass::PassKind::kTrainProfile;
  base.repetition = 0;
  auto& train = std::get<pass::TrainSpec>(base.task);
  train.checkpoint = {};
  train.inject.clear();
  train.epochs = train.drift_check_every = 0;
  train.profile.steps = c.settings.integer("profiling.steps");
  train.profile.trace_file = trace_file.string();
  return base;
}

void apply_operator_profile(CaseRun& run, const process::WorkerOutcome& outcome, const fs::path& trace_file) {
  auto& profile = run.result.operator_profile.emplace();
  const auto* told = std::get_if<result::ProfiledSteps>(&outcome.report.payload);
  if (!outcome.ok || !told) {
    profile.reason = outcome.ok ? "the process that was profiled reported nothing" : outcome.reason;
    return;
  }
  auto steps = *told;
  profile = result::summarize_operators(steps, run.result.headline.p50_ns.value);
  if (!profile.steps) return;
  profile.table = kTableName;
  replace_file(run.dir / kTableName, result::operators_to_csv(steps.operators));
  if (steps.no_trace.empty()) take_trace(run, trace_file, profile);
}

}  // namespace paceline::run
