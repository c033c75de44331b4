// SPDX-License-Identifier: MIT
// A step and an operator of one rank's trace.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/traces/call_kind.h"

namespace paceline::analysis::traces {

// Use of a rank's time: the parts from data_wait to rest exclude each other and add up to its length.
struct TimeParts {
  std::int64_t length = 0;
  std::int64_t data_wait = 0, forward = 0, backward = 0, optimizer = 0;  // of the device where it ran kernels
  std::int64_t exposed = 0;        // communication while the rank computed nothing
  std::int64_t rest = 0;           // the host between operators; with a device: it copies or idles
  std::int64_t communication = 0;  // exposed or not: the union of its intervals

  TimeParts& operator+=(const TimeParts& more);
  TimeParts& operator-=(const TimeParts& less);
};

// One exchange with other ranks, on the clock of its rank.
struct Exchange {
  CallKind kind = CallKind::kUnknown;
  std::uint32_t group = 0;  // as EventDetails has it
  std::int64_t begin = 0, end = 0;
  std::int64_t exposed = 0;  // of the step's; what several exchanges share is that of the first to begin
  TimeParts until = {};      // of the step, until its end
};

// One step, in ns. On a device it lasts until its kernels have ended, and begins when those of the step
// before have, or when the host begins it, whichever is later.
struct TraceStep : TimeParts {
  std::int64_t number = 0;
  std::int64_t begin = 0;
  std::int64_t point_to_point = 0;        // sends and receives, as pipelines have them
  std::vector<Exchange> exchanges = {};   // by begin
  std::optional<std::int64_t> idle = {};  // the device had nothing to do
  // Forward operators, where the profiler recorded shapes: elements of all their inputs, and the most
  // frequent first dimension of their first inputs, which is the batch.
  std::optional<std::int64_t> input_elements = {}, batch = {};
};

// A step that the trace does not have whole, and why.
struct LeftOutStep {
  std::int64_t number = 0;
  std::string why;
};

// Times by index of the rank's steps; steps beyond the last element have none.
using TimesByStep = std::vector<std::int64_t>;

// Work of the device of one name that one operator launched.
struct TraceKernel {
  std::string name;
  std::int64_t calls = 0, device_ns = 0;
  TimesByStep device_by_step = {};
};

// All calls within steps.
struct TraceOperator {
  std::string name;
  std::int64_t calls = 0;
  std::int64_t host_ns = 0;               // without the operators that it calls
  std::int64_t device_ns = 0;             // of the kernels that it launched itself
  std::vector<TraceKernel> kernels = {};  // these, and copies; none of work that no operator launched
  TimesByStep host_by_step = {}, device_by_step = {};
};

}  // namespace paceline::analysis::traces
