// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/plan.h"
#include "result/case_result.h"
#include "result/rank_steps.h"
#include "result/samples.h"
#include "run/plugin_choice.h"
#include "run/worker.h"

namespace paceline::run {

// A case on its way: its settings, where its engine is, and what its passes have brought so far.
struct CaseRun {
  config::Case definition;
  workload::PassSpec base;
  std::filesystem::path dir;
  result::CaseResult result;
  std::vector<result::Sample> samples;
  std::map<std::int64_t, std::vector<result::RankSteps>> rank_steps;  // of training, by repetition
  std::set<std::int64_t> trained;  // repetitions whose training was done before, so that they have no figures
  std::set<std::int64_t> again;    // repetitions that keep their figures until newer ones are there
  std::string model_file;   // what the engine reads instead of a built-in model; empty: it has the model
  std::string interrupted;  // what was kept of a repetition that was interrupted
  bool selected = true;     // of --only
  bool ended = false;       // skipped, failed, or every repetition is there

  // Every repetition is measured, or was trained to its end before.
  [[nodiscard]] bool all_there() const;
  [[nodiscard]] bool trains() const { return definition.kind == config::WorkloadKind::kTraining; }
  [[nodiscard]] std::filesystem::path record_file(workload::PassKind kind, std::int64_t repetition) const;
  [[nodiscard]] std::filesystem::path log() const { return dir / "log.txt"; }
};

// Keeps the records of a finished case under another name, so that it can be measured again.
void set_passes_aside(const CaseRun& run);

// Ends a case that did not work out. Codes that mean "cannot be done here" make it skipped, the others
// failed.
void end_case(CaseRun& run, const std::string& code, const std::string& reason);

// Takes over the file that stands for the built-in model, and has the passes of the engine use it.
void apply_model_file(CaseRun& run, const std::string& file, const workload::PreparedFile& prepared);
void describe_given_file(CaseRun& run);  // a model file of the user's
void use_model_file(const CaseRun& run, workload::PassSpec& pass);

// Takes over what a check pass found: a failed accuracy check or an executed precision other than asked ends
// the case.
void apply_check(CaseRun& run, const workload::PassReport& report);

// Adds a finished repetition and recomputes every statistic. Of training it also writes what each rank
// measured and the epochs; step tables that do not fit together end the case.
void apply_repetition(CaseRun& run, const workload::PassReport& report);
void resummarize(CaseRun& run);
// Steps of a repetition that was interrupted go to the files of its ranks, and into no statistic. What was
// kept, in words; empty: there is nothing.
std::string keep_interrupted_steps(CaseRun& run, std::int64_t repetition, const workload::PassReport& report);

// Times of layers, where they were asked for; the case itself stays as it is.
bool asks_layer_profile(const CaseRun& run);
WorkerOutcome not_prepared();  // of a case that was finished before this --resume
void apply_layer_profile(CaseRun& run, const WorkerOutcome& outcome);

}  // namespace paceline::run
