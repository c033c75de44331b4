// SPDX-License-Identifier: MIT
// Sees the profilers, debuggers and checkers under which a process runs: what is timed there is slower.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/system_files.h"

namespace paceline::host {

// A variable of the environment by which a tool enters a process.
struct ToolVariable {
  const char* name;
  std::string_view tool;  // empty: nothing that is timed is slower for it, or its libraries decide
};
std::span<const ToolVariable> tool_variables();

// Where the answer comes from; replaced in tests.
struct InstrumentSource {
  SystemFiles files{};
  std::function<std::optional<std::string>(const std::string&)> variable{};  // default: getenv
};

// Tools that watch this process: "gdb, which traces it (pid 12)", "ncu (Nsight Compute)"; empty if none is
// seen. Looked for: a tracer, the programs that started this one, libraries that tools inject, and variables.
std::string instrument_here(const InstrumentSource& source = InstrumentSource());

}  // namespace paceline::host
