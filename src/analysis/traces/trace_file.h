// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// Reads a trace of PyTorch's profiler (Kineto, in the format of chrome://tracing) as a stream: what it keeps
// of an event is a few words.
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
  std::uint64_t thread = 0;       // of the host, or a stream of the device
  std::uint32_t name = 0;         // index into Trace::names
  EventKind kind = EventKind::kOperator;
};

struct Trace {
  std::filesystem::path file;
  std::optional<std::int64_t> rank, world;  // rank: as the trace has it, else as in the name of the file
  std::string host;
  std::optional<std::int64_t>
      base_ns;  // since the epoch: every time counts from here. Kineto of 2024 and later writes it
  std::vector<std::string> names;
  std::vector<TraceEvent> events;  // by begin; of equal ones the longest first
  [[nodiscard]] const std::string& name_of(const TraceEvent& e) const { return names[e.name]; }
};

// Empty: the file is JSON and no trace. Throws Error(kData) when it is no JSON or ends too early, Error(kIo)
// when it cannot be read. A file that gzip packed is unpacked on the way.
std::optional<Trace> read_trace(const std::filesystem::path& file);

// The number behind "rank", or of a part that is a number: trace_rank3.json, rank_3/…, trace.3.json.
std::optional<std::int64_t> rank_in_name(const std::string& name);

}  // namespace paceline::analysis::traces
