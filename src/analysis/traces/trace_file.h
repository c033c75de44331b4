// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/traces/call_kind.h"
#include "analysis/traces/trace_event.h"

// Reads a trace of PyTorch's profiler (Kineto, in the format of chrome://tracing) as a stream: what it keeps
// of an event is a few words.
namespace paceline::analysis::traces {

// Details that the profiler recorded of an operator or kernel besides its times.
struct EventDetails {
  std::int64_t elements = 0;           // of all inputs together ("Input Dims")
  std::int64_t first_dim = 0;          // of the first one: most often the batch
  CallKind call = CallKind::kUnknown;  // "Collective name"
  std::uint32_t group = 0;             // equal for exchanges of the same ranks; 0: not known
  [[nodiscard]] bool any() const { return elements > 0 || call != CallKind::kUnknown; }
};

// Thread of the host or stream of the device.
struct TraceThread {
  std::uint64_t process = 0, thread = 0;
  friend bool operator==(const TraceThread&, const TraceThread&) = default;
};

struct Trace {
  std::string file;                         // its name, for messages
  std::optional<std::int64_t> rank, world;  // as the trace has them
  std::string host;
  std::optional<std::int64_t>
      base_ns;  // since the epoch: every time counts from here. Kineto of 2024 and later writes it
  std::vector<std::string> names;
  std::vector<TraceThread> threads;
  std::vector<EventDetails> details = std::vector<EventDetails>(1);
  std::vector<TraceEvent> events;  // by begin; of equal ones the longest first
  // Events that say nothing: without a time or an end (pytorch/pytorch#188481), or without a category.
  std::int64_t untimed = 0, uncategorised = 0;
  std::vector<std::uint32_t> untimed_annotations;  // names
  [[nodiscard]] const std::string& name_of(const TraceEvent& e) const { return names[e.name]; }
};

// A trace, or why a file is not a trace.
struct TraceReading {
  std::optional<Trace> trace;
  std::string why_none;
};

// Most memory for one trace as it is kept. With everything made of it that is 2.7 times as much (measured).
inline constexpr std::int64_t kTraceMemory = 2'000'000'000;

// Throws Error(kData) when a trace is damaged, cut off, larger than `memory` bytes in memory, or has times or
// ranks that are none; Error(kIo) when the file cannot be read. A file that gzip packed is unpacked on the
// way. `name`: of the file, for messages.
TraceReading read_trace(const std::filesystem::path& file, const std::string& name,
                        std::int64_t memory = kTraceMemory);

}  // namespace paceline::analysis::traces
