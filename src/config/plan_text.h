// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::config {

// A plan as it was read: a pipe gives its text only once.
struct PlanText {
  std::string text;
  std::string source;  // what messages call it
};

// A file, a pipe such as <(…), /dev/stdin, or "-" for standard input, up to 4 MiB. Throws ConfigErrors.
PlanText read_plan_text(const std::filesystem::path& path);

// The plug-ins that a plan names; none when it cannot be parsed, which load_plan_text says with its place.
std::vector<std::string> plan_plugins(const PlanText& plan);
// What stands at its top level under a key, as it was written; nothing where it cannot be parsed.
std::optional<std::string> plan_value(const PlanText& plan, std::string_view key);

}  // namespace paceline::config
