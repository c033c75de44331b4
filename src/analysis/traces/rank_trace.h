// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/traces/attached_job.h"
#include "analysis/traces/trace_step.h"

// Steps of one rank, read from its trace, or from its step file (ranks: traces of other programs).
namespace paceline::analysis::traces {

// From which events communication is known.
enum class Communication : std::uint8_t {
  kNone,      // there are none
  kLaunches,  // of the host, which only hands the work to the device
  kHost,      // gloo's, or MPI's
  kDevice,    // kernels
};

struct RankTrace {
  std::string file;  // its name
  std::optional<std::int64_t> rank, world;
  std::optional<std::int64_t> number;  // in the name of the file or its folder: a rank, or anything
  bool rank_assumed = false;           // nothing says which rank it is of
  std::string host;
  std::uint64_t process = 0;            // that its steps are of, by whatever number
  std::int64_t recordings = 1;          // files that it is of
  std::optional<std::int64_t> base_ns;  // since the epoch: where the clock of the steps begins
  bool device = false;                  // it ran kernels
  bool has_loader = false, has_backward = false, has_optimizer = false;
  bool has_forward = true;  // false: all before the backward pass is in the rest of the step
  Communication communication = Communication::kNone;
  std::vector<TraceStep> steps;  // by number
  std::vector<LeftOutStep> left_out;
  // Kernels whose launch is not known (correlation 0): counted where the kernel before them is, or in no
  // step.
  std::int64_t placed = 0, unplaced = 0;
  std::vector<std::string> notes;        // what else of the trace is not in the figures
  std::vector<TraceOperator> operators;  // the most time first: of the device, else of the host
  std::int64_t operator_steps = 0;       // steps that they are of
  std::optional<AttachedRank> attached;  // the steps are of a step file
};

}  // namespace paceline::analysis::traces
