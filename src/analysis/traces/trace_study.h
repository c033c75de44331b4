// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/traces/rank_trace.h"
#include "analysis/traces/trace_rows.h"
#include "result/training.h"

// What the traces of a training job say, one trace per rank (methodology: traces of other programs).
namespace paceline::analysis::traces {

struct Bottleneck {
  std::string title, evidence, advice;
  double cost_ns = 0;  // of a step
  double share = 0;    // of the step
};

struct TraceStudy {
  std::optional<std::int64_t> world;  // ranks of the job; empty: one trace that does not say
  std::int64_t first_step = 0, last_step = 0, steps = 0;  // steps: that are in the figures
  std::vector<RankRow> ranks;
  result::StepCosts costs;          // of the typical rank
  result::Number step_ns;           // mean, as the shares have it
  result::Number sync_stall_share;  // of the step: waiting for late ranks and exposed communication
  result::Number straggler_wait_share, communication_share, data_wait_share;
  result::Number overlap_ratio;             // all ranks together
  result::Number host_bound_share;          // of the step: the device idle, mean over the ranks
  std::vector<result::LateRank> late;       // with certainty; empty: none
  std::vector<result::LateRank> suspected;  // where `late` is empty: too few steps to be certain
  bool pipeline = false;                    // ranks talk mostly in pairs, as stages of a pipeline do
  bool operators_on_device = false;
  std::vector<OperatorRow> operators;   // the fifteen with most time, of the device or else of the host
  std::vector<Bottleneck> bottlenecks;  // the dearest first; empty: nothing stands out
  std::vector<std::string> left_out;    // files, events and steps that are in no figure, and why
  std::vector<std::string> untold;      // what the traces cannot tell, and why
};

// Reads every trace in a folder, or one file. Throws Error(kUsage) when there is none, Error(kData) when the
// traces are damaged, do not belong together, lack a step, or all communication.
TraceStudy read_traces(const std::filesystem::path& folder);

// Pure: the same for what has been read already.
TraceStudy study_of(std::vector<RankTrace> ranks);

std::string text_of(const TraceStudy& study);
nlohmann::json to_json(const TraceStudy& study);

}  // namespace paceline::analysis::traces
