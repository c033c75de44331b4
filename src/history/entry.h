// SPDX-License-Identifier: MIT
// One run as rows of the index: what it was, where, and the figures of its cases.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "result/run_directory.h"

namespace paceline::history {

// Figures of the machine that every run of a case stores: no change of a model or engine can move them.
inline constexpr std::string_view kControlPeak = "machine_peak_gflops_per_s",
                                  kControlWork = "machine_control_ms";

// Outcome of a case with fewer repetitions, or steps, than were planned.
inline constexpr const char* kCutShort = "interrupted";

struct Figure {
  std::string metric;  // of result::metrics(), or one of the two above
  double value = 0;
  std::optional<double> low, high;
};

struct CaseEntry {
  std::string key;  // equal for equal benchmarks
  std::string case_id, label, model, engine;
  std::string outcome;  // ok | skipped | failed | kCutShort
  std::string grade;
  std::vector<Figure> figures;
};

struct RunEntry {
  std::string run_id, folder, experiment, started_utc;
  std::string machine;                        // digest of what decides its speed; empty: the run does not say
  std::string machine_words;                  // "AMD EPYC, 2 cores"
  std::map<std::string, std::string> system;  // what may change on a machine: kernel, microcode, driver, …
  std::string version, git_sha;
  std::string commit;  // of the user's sources, with "+" if files differed from it; empty: not stored
  std::string outcome, note;
  std::vector<CaseEntry> cases;
};

// `folder` of the entry is that of the stored run, absolute.
RunEntry entry_of(const result::StoredRun& stored);

// Equal for two benchmarks that may be compared, whatever their plans call them.
std::string identity_key(const result::Benchmark& benchmark);

// The figure that stands for a case: the first of p50_ms, back_to_back_ms, … that it has; null: it has none.
const Figure* headline_figure(const CaseEntry& one);

// Names of these metrics, in their order.
std::vector<std::string> headline_metrics();

}  // namespace paceline::history
