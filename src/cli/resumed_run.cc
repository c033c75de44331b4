// SPDX-License-Identifier: MIT
#include "cli/resumed_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "config/option_table.h"
#include "process/kept_records.h"
#include "run/case/case_identity.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

// What --resume may change; with anything else, repetitions would not have been measured alike.
constexpr std::array<std::string_view, 5> kResumeMayChange{"repetitions", "timeout_s", "idle_wait_s",
                                                           "measure_peak", "checkpoint.resume"};

// The folder of a run holds where it is and what it measures.
constexpr std::array<std::string_view, 3> kSaidByTheFolder{"config", "output_dir", "experiment_name"};

void check_overrides_of_resume(const config::FlagSet& flags) {
  constexpr unsigned kOfRun = config::kCommandLine | config::kPlanLevel;
  for (const auto& setting : flags.settings) {
    if (std::find(kSaidByTheFolder.begin(), kSaidByTheFolder.end(), setting.name) != kSaidByTheFolder.end())
      throw Error(
          ErrorCode::kUsage,
          fmt::format("{}: --resume takes the plan of the folder and writes into the folder; leave {} out",
                      setting.place.file, setting.written));
    const bool allowed =
        config::find_option(setting.name, kOfRun) ||
        std::find(kResumeMayChange.begin(), kResumeMayChange.end(), setting.name) != kResumeMayChange.end();
    if (!allowed)
      throw Error(ErrorCode::kUsage, fmt::format("{}: --resume finishes a run as it was planned and may "
                                                 "change only {}; start a new run for this",
                                                 setting.written, fmt::join(kResumeMayChange, ", ")));
  }
}

// The number of repetitions only by a flag: a plan that was cut short would leave some out.
bool may_change(const config::FlagSet& flags, const std::string& option) {
  return std::ranges::find(kResumeMayChange, option) != kResumeMayChange.end() &&
         (option != "repetitions" ||
          std::ranges::any_of(flags.settings, [](const auto& s) { return s.name == "repetitions"; }));
}

// How a case of the folder's plan differs from what was measured, in words; empty: it does not.
std::string changed_setting(const result::CaseResult& before, const result::CaseResult& planned,
                            const config::FlagSet& flags) {
  for (const auto& [name, value] : before.config_effective.items()) {
    const auto now = planned.config_effective.find(name);
    if (may_change(flags, name) || (now != planned.config_effective.end() && *now == value)) continue;
    return fmt::format("{} is {} in it, and was {} when {} was measured", name,
                       now == planned.config_effective.end() ? "unset" : now->dump(), value.dump(),
                       before.label);
  }
  return {};
}

}  // namespace

void check_resumable(const config::FlagSet& flags, const config::Settings& options, const fs::path& stored) {
  const auto& folder = options.text("resume");
  if (!fs::exists(folder))
    throw Error(ErrorCode::kUsage, fmt::format("--resume: there is no folder '{}'", folder));
  if (!fs::exists(stored))
    throw Error(ErrorCode::kUsage, fmt::format("'{}' is no run to resume: it has no plan.yaml; give a run "
                                               "directory, e.g. results/quickstart/<run_id>, or go on from a "
                                               "checkpoint with --checkpoint.dir FOLDER --checkpoint.resume",
                                               folder));
  check_overrides_of_resume(flags);
}

void check_same_plan(const result::RunResult& before, const std::vector<config::Case>& cases,
                     const fs::path& folder, const config::FlagSet& flags) {
  for (const auto& one : before.cases) {
    const auto found = std::ranges::find(cases, one.case_id, &config::Case::id);
    const std::string change = found == cases.end()
                                   ? fmt::format("case {} of the run is not in it", one.case_id)
                                   : changed_setting(one, run::new_case_result(*found, before.run_id), flags);
    if (change.empty()) continue;
    throw Error(ErrorCode::kConfig,
                fmt::format("'{}' was changed since the run began: {}; put it back as it was, or measure the "
                            "changed plan into a folder of its own: paceline run {}",
                            (folder / "plan.yaml").string(), change, (folder / "plan.yaml").string()));
  }
}

result::StoredRun previous_run(const result::RunDirectory& directory, run::RunObserver& observer) {
  const auto& summary = directory.summary_path();
  if (!fs::exists(summary)) return {directory.path(), {}};
  if (nlohmann::json::accept(read_file(summary))) return result::read_run(directory.path());
  observer.warning(
      fmt::format("'{}' is cut off or damaged: it is put aside, and written anew from the records "
                  "of the passes",
                  summary.string()));
  process::set_file_aside(summary);
  return {directory.path(), {}};
}

}  // namespace paceline::cli
