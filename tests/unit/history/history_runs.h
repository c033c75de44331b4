// SPDX-License-Identifier: MIT
// Run folders and entries with invented figures.
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "history/entry.h"
#include "history/index.h"
#include "result/run_directory.h"
#include "support/sample_runs.h"

namespace paceline::history::testing {

inline constexpr const char* kNoWarning = "a warning where none is expected";

inline std::string run_id_of(int number) {
  return fmt::format("20260101T{:02}{:02}00Z-{:04x}", number / 60, number % 60, number);
}

// The run of two cases that tests share, with a p50 of its first case.
inline result::RunResult run_of(int number, double p50_ms) {
  auto run = paceline::testing::sample_run();
  run.run_id = run_id_of(number);
  run.experiment_name = "bench";
  run.started_utc = fmt::format("2026-01-01T{:02}:{:02}:00Z", number / 60, number % 60);
  run.environment = {{"cpu", {{"model", "Test CPU"}, {"cores_allowed", 2}}}, {"os", {{"kernel", "6.1"}}}};
  run.cases.resize(1);
  run.cases[0].headline.p50_ns = paceline::testing::around(p50_ms * 1e6, 0.02, "binomial");
  return run;
}

inline std::filesystem::path write_run(const std::filesystem::path& results, const result::RunResult& run) {
  const auto folder = results / run.experiment_name / run.run_id;
  result::RunDirectory(folder).write_summary(run);
  return folder;
}

inline RunEntry entry_in(const std::filesystem::path& results, int number, double p50_ms) {
  const auto run = run_of(number, p50_ms);
  return entry_of({results / run.experiment_name / run.run_id, run});
}

}  // namespace paceline::history::testing
