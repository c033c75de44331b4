// SPDX-License-Identifier: MIT
#pragma once
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/plan.h"
#include "pass/report.h"
#include "process/worker.h"
#include "result/stored/case_result.h"
#include "result/stored/samples.h"
#include "run/case/plugin_choice.h"

namespace paceline::run {

// The check of a case whose first timed pass runs before it, so that a figure is there at once.
struct LaterCheck {
  std::filesystem::path file;  // that the timed pass waits for; it goes with the run
  std::function<void()> run;   // the case may end
};

// A case on its way: its settings, where its engine is, and what its passes have brought so far.
struct CaseRun {
  std::size_t index = 0;  // in the order of the plan
  config::Case definition;
  pass::PassSpec base;
  std::filesystem::path dir;
  result::CaseResult result;
  std::vector<result::Sample> samples;
  std::vector<result::SampledWindow> sampled;      // by samplers of plug-ins
  std::vector<result::SampledWindow> idle;         // likewise, before the first worker
  std::map<std::int64_t, pass::Payload> reported;  // what its kind keeps of its passes, by repetition
  std::set<std::int64_t> trained;  // repetitions whose training was done before, so that they have no figures
  std::set<std::int64_t> again;    // repetitions that keep their figures until newer ones are there
  std::string gpu;                 // of this machine, where ranks are on GPUs and the driver names them
  std::string model_file;  // what the engine reads instead of a built-in model; empty: it has the model
  std::optional<LaterCheck> later_check{};
  std::string no_reference;  // why its outputs cannot be checked, where they should be
  std::string interrupted;   // what was kept of a repetition that was interrupted
  bool selected = true;      // of --only
  bool prepared = false;     // its kind has done what comes before the first timed pass
  bool ended = false;        // skipped, failed, or every repetition is there

  // Every repetition is measured, or was trained to its end before.
  [[nodiscard]] bool all_there() const;
  // A repetition of this number has figures.
  [[nodiscard]] bool measured(std::int64_t repetition) const;
  // A pass has to run for it.
  [[nodiscard]] bool needs(std::int64_t repetition) const;
  [[nodiscard]] std::filesystem::path record_file(pass::PassKind kind, std::int64_t repetition) const;
  [[nodiscard]] std::filesystem::path log() const { return dir / "log.txt"; }
};

// A deque: more may be added, and their addresses stay.
using CaseRuns = std::deque<CaseRun>;

// Keeps the records of a finished case under another name, so that it can be measured again.
void set_passes_aside(const CaseRun& run);

// Ends a case that did not work out. Codes that mean "cannot be done here" make it skipped, the others
// failed.
void end_case(CaseRun& run, const std::string& code, const std::string& reason);

// Takes over what the engine or the trainer says of itself; the timed process has the last word.
void take_description(CaseRun& run, const pass::PassReport& report);

// Has a pass read the file of the built-in model, where there is one.
void use_model_file(const CaseRun& run, pass::PassSpec& pass);

// Adds a finished repetition and recomputes every statistic; a report that does not fit together ends the
// case.
void apply_repetition(CaseRun& run, pass::PassReport report);
void resummarize(CaseRun& run);

}  // namespace paceline::run
