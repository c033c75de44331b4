// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/engine.h"

// Programs with which an engine's makers or users time it: how each is found, called and read.
namespace paceline::run {

// One process of a tool: a file, its inputs, and how it is to run.
struct ToolOrder {
  std::filesystem::path model_file;      // absolute
  std::vector<TensorSpec> inputs;        // full shapes
  std::vector<std::string> input_files;  // .npy, one per input, one batch
  plugin::EngineSettings settings;
  std::int64_t warmup = 1;  // of tools that take it; the first inference comes on top
  std::int64_t iterations = 1;
  std::filesystem::path folder;  // for the tool's own files
};

struct ToolFigures {
  double p50_ns = 0;
  double resolution_ns = 0;  // half a unit of its last digit
  std::string version;       // of the library; empty: it does not say
};

struct EngineTool {
  std::string_view name;     // as engines declare it
  std::string_view install;  // what to do where it is not found
  std::string_view library;  // key of the engine's own version in effective_settings
  // The program to start; empty: not here. `python` is one that was found, or empty.
  std::filesystem::path (*find)(const std::filesystem::path& python);
  // Arguments with which the program says whether it can work at all; empty: there is nothing to ask.
  std::vector<std::string> (*probe)();
  // Arguments of one process; writes what it needs into order.folder.
  std::vector<std::string> (*arguments)(const ToolOrder& order);
  // From what the process wrote: its report in order.folder, and its output. Throws Error(kData).
  ToolFigures (*read)(const ToolOrder& order, const std::string& output);
};

// nullptr where the engine has none that is known here; no_tool_reason says so in words.
const EngineTool* find_engine_tool(std::string_view engine);
std::string no_tool_reason(std::string_view engine);

}  // namespace paceline::run
