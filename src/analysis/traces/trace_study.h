// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/bottlenecks.h"
#include "analysis/traces/attached_job.h"
#include "analysis/traces/rank_trace.h"
#include "analysis/traces/trace_rows.h"
#include "result/stored/case_result.h"

// Study of a training job's traces, one per rank (ranks: traces of other programs).
namespace paceline::analysis::traces {

struct TraceStudy {
  std::optional<std::int64_t> world;  // ranks of the job; empty: one trace that does not say
  std::int64_t first_step = 0, last_step = 0, steps = 0;  // steps: that are in the figures
  std::int64_t recordings = 1;                            // of each rank
  std::vector<RankRow> ranks;
  std::size_t typical = 0;  // index of the rank that costs and shares are of
  result::StepCosts costs;  // of the typical rank
  Number step_ns;           // mean, as the shares have it
  // The job as a case that has trained, for findings. Its host_ns is the time in which a device idles.
  result::CaseResult job;
  bool operators_on_device = false;
  std::vector<OperatorRow> operators;     // the fifteen with most time, of the device or else of the host
  std::vector<Bottleneck> bottlenecks;    // the most expensive first
  std::vector<std::string> left_out;      // files, events and steps that are in no figure, and why
  std::vector<std::string> untold;        // what the traces cannot tell, and why
  std::vector<ExchangeRow> exchanges;     // of the typical rank, the most exposed first
  std::optional<AttachedStudy> attached;  // the job was attached to
};

// Reads every trace, or every step file, in a folder, or one file. Throws Error(kUsage) when there is none,
// Error(kData) when the traces are damaged, do not belong together, lack a step, or all communication.
TraceStudy read_traces(const std::filesystem::path& folder);

// Pure: the same for what has been read already.
TraceStudy study_of(std::vector<RankTrace> ranks);

}  // namespace paceline::analysis::traces
