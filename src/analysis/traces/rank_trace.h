// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/traces/trace_file.h"

// What one rank's trace says of its steps (methodology: traces of other programs).
namespace paceline::analysis::traces {

// From which events communication is known.
enum class Communication : std::uint8_t {
  kNone,      // there are none
  kLaunches,  // of the host, which only hands the work to the device
  kHost,      // gloo's, or MPI's
  kDevice,    // kernels of NCCL
};

// One step, in ns. The parts are of the device where it ran kernels, else of the host; they add up to the
// step with what is in none of them.
struct TraceStep {
  std::int64_t number = 0;
  std::int64_t begin = 0, length = 0;
  std::int64_t data_wait = 0, forward = 0, backward = 0, optimizer = 0;
  std::int64_t communication = 0;         // union of its intervals
  std::int64_t exposed = 0;               // of it, while the rank computed nothing
  std::int64_t exposed_together = 0;      // of that, in collectives that end on all ranks together
  std::int64_t together = 0;              // those collectives; 0: the step exchanges nothing
  std::optional<std::int64_t> idle = {};  // the device had nothing to do
};

struct TraceOperator {
  std::string name;
  std::int64_t calls = 0;
  std::int64_t self_ns = 0;  // without the operators that it calls
};

struct RankTrace {
  std::string file;  // its name
  std::optional<std::int64_t> rank, world;
  std::string host;
  std::optional<std::int64_t> base_ns;  // since the epoch: where the clock of the steps begins
  bool device = false;                  // it ran kernels
  bool has_loader = false, has_backward = false, has_optimizer = false;
  Communication communication = Communication::kNone;
  std::vector<TraceStep> steps;  // by number
  std::vector<TraceOperator>
      operators;  // within steps, the most self time first; kernels where there are any
};

// Throws Error(kData) when the trace has no step markers.
RankTrace rank_trace(const Trace& trace);

}  // namespace paceline::analysis::traces
