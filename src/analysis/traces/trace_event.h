// SPDX-License-Identifier: MIT
// An event of a trace, in a few words.
#pragma once
#include <cstdint>

namespace paceline::analysis::traces {

enum class EventKind : std::uint8_t {
  kOperator,    // on the host
  kAnnotation,  // a scope that somebody named: a step, a data loader, an optimizer, gloo
  kKernel,      // on the device
  kCopy,        // of memory, on the device
  kLaunch,      // a call on the host that starts a kernel or a copy
};

// Times in ns, on the clock of the process.
struct TraceEvent {
  std::int64_t begin = 0, end = 0;
  std::int64_t correlation = -1;  // equal for a launch and what it launched
  std::uint32_t thread = 0;       // index into Trace::threads
  std::uint32_t name = 0;         // index into Trace::names
  std::uint32_t details = 0;      // index into Trace::details; 0: none recorded
  EventKind kind = EventKind::kOperator;
};

}  // namespace paceline::analysis::traces
