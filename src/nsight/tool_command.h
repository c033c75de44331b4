// SPDX-License-Identifier: MIT
// The command lines of NVIDIA's profilers: in front of a program, and to export what they wrote.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::nsight {

enum class Tool { kSystems, kCompute };

// Differences between the two.
struct ToolTraits {
  Tool tool;
  std::string_view program, name;           // "nsys", "Nsight Systems"
  std::string_view report, table;           // of the files that it writes and exports: "timeline.nsys-rep"
  std::span<const std::string_view> flags;  // that it must know, as its help lists them
};
const ToolTraits& traits_of(Tool tool);
// By the name of its program. Throws Error(kInternal) for another.
Tool tool_named(std::string_view program);

// Kernels that ncu counts.
struct KernelChoice {
  std::int64_t most = 40;
  std::string name;                   // a regular expression; empty: every kernel
  std::vector<std::string> sections;  // empty: the full set
};

struct ToolRequest {
  Tool tool = Tool::kSystems;
  std::filesystem::path program, folder;  // folder: where the report is written
  // The program begins and ends the range with calls of CUDA; false: everything that it does is recorded.
  bool waits = true;
  KernelChoice kernels;
};

// Command in front of the program that is watched.
std::vector<std::string> in_front(const ToolRequest& request);
// Command that prints or writes the table to be read, from the report in the folder.
std::vector<std::string> exporting(const ToolRequest& request);
// Selects the traits' flags that a help text does not name.
std::vector<std::string> unknown_flags(Tool tool, std::string_view help);

}  // namespace paceline::nsight
