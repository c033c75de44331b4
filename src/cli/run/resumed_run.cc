// SPDX-License-Identifier: MIT
#include "cli/run/resumed_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/json.h"
#include "base/reading.h"
#include "config/option_table.h"
#include "config/value.h"
#include "config/vocabulary.h"
#include "process/kept_records.h"
#include "run/case/case_identity.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

// Options that --resume may change; any other would make repetitions differ.
constexpr std::array<std::string_view, 5> kResumeMayChange{"repetitions", "timeout_s", "idle_wait_s",
                                                           "measure_peak", "checkpoint.resume"};

// The folder of a run holds where it is and what it measures.
constexpr std::array<std::string_view, 3> kSetByFolder{"config", "output_dir", "experiment_name"};

void check_overrides_of_resume(const config::FlagSet& flags) {
  constexpr unsigned kOfRun = config::kCommandLine | config::kPlanLevel;
  for (const auto& setting : flags.settings) {
    if (std::find(kSetByFolder.begin(), kSetByFolder.end(), setting.name) != kSetByFolder.end())
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

// Whether an option may have this value now. Fewer repetitions only by a flag: a plan that was cut short
// would leave some out.
bool may_be(const nlohmann::json& now, const std::string& option, const nlohmann::json& before,
            const config::FlagSet& flags) {
  if (now == before) return true;
  if (std::ranges::find(kResumeMayChange, option) == kResumeMayChange.end()) return false;
  return option != "repetitions" || (now.is_number() && now >= before) ||
         std::ranges::find(flags.settings, option, &config::RawSetting::name) != flags.settings.end();
}

// A value that another version has added, or nobody has chosen.
bool is_default(const config::Case& c, const std::string& name) {
  const auto* option = config::find_option(name, config::kind_bit(c.kind));
  return option != nullptr && config::is_default(*option, c.settings.list(name));
}

// The settings and the environment of a case, by name.
nlohmann::json settings_of(const result::CaseResult& one) {
  auto settings = one.config_effective;
  for (const auto& [name, value] : one.benchmark.params)
    if (name.starts_with("env.")) settings[name] = value;
  // Values read from a file follow from it, and it is compared by its content.
  if (config::find_model(one.benchmark.model) == nullptr)
    for (const char* name : {"shapes", "input_values"}) settings.erase(name);
  return settings;
}

// How a case of the folder's plan differs from what was measured, in words; empty: it does not.
std::string changed_setting(const result::CaseResult& measured, const config::Case& planned,
                            const config::FlagSet& flags) {
  const auto before = settings_of(measured),
             now = settings_of(run::new_case_result(planned, measured.run_id));
  const auto text = [](const nlohmann::json& value) { return value.is_null() ? "unset" : value.dump(); };
  auto names = before;
  names.update(now);
  for (const auto& [name, _] : names.items()) {
    const auto was = before.value(name, nlohmann::json()), is = now.value(name, nlohmann::json());
    if (may_be(is, name, was, flags) || (was.is_null() && is_default(planned, name))) continue;
    return fmt::format("{} is {} in it, and was {} when {} was measured", name, text(is), text(was),
                       measured.label);
  }
  return {};
}

// The summary is whole, so that it can be read.
bool has_summary(const fs::path& summary) {
  return fs::exists(summary) && !json_or_discarded(read_stored(summary, Foreign::kResult)).is_discarded();
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
  check_regular_file(stored);
  check_overrides_of_resume(flags);
}

result::StoredRun previous_run(const fs::path& folder) {
  if (!has_summary(folder / result::kSummaryFile)) return {folder, {}};
  return result::read_run(folder);
}

void check_same_plan(const result::StoredRun& before, const std::vector<config::Case>& cases,
                     const config::FlagSet& flags) {
  for (const auto& one : before.run.cases) {
    if (one.repetitions.empty()) continue;
    const auto found = std::ranges::find(cases, one.case_id, &config::Case::id);
    const std::string change = found == cases.end()
                                   ? fmt::format("case {} of the run is not in it", one.case_id)
                                   : changed_setting(one, *found, flags);
    if (change.empty()) continue;
    const auto plan = (before.folder / "plan.yaml").string();
    throw Error(ErrorCode::kConfig,
                fmt::format("'{}' was changed since the run began: {}; put it back as it was, or measure the "
                            "changed plan into a separate folder: paceline run {}",
                            plan, change, plan));
  }
}

void set_damaged_summary_aside(const fs::path& folder, run::RunObserver& observer) {
  const auto summary = folder / result::kSummaryFile;
  if (!fs::exists(summary) || has_summary(summary)) return;
  observer.warning(fmt::format(
      "'{}' is cut off or damaged: it is put aside, and written again from the records of the passes",
      summary.string()));
  process::set_file_aside(summary);
}

}  // namespace paceline::cli
