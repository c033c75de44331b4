// SPDX-License-Identifier: MIT
// Reads which instructions the environment forbids oneDNN to use.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace paceline::torch_plugin {

// The variable that keeps oneDNN, which does LibTorch's 16-bit multiply-adds, from using instructions.
struct IsaLimit {
  std::string variable;  // empty: none is set
  std::string value;
};
IsaLimit isa_limit_of_environment();

// Selects the CPU's features (words of /proc/cpuinfo) that such a value leaves. A value that oneDNN does not
// know limits nothing.
std::vector<std::string> features_left(const std::vector<std::string>& features, std::string_view value);

}  // namespace paceline::torch_plugin
