// SPDX-License-Identifier: MIT
// Reads the text of a plan once, and the plug-ins that it names before it can be checked.
#pragma once
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"

namespace paceline::config {

// The text of a plan, which is read once because a pipe gives its text only once.
struct PlanText {
  std::string text;
  std::string source;  // its name in messages
};

// A file, a pipe such as <(…), /dev/stdin, or "-" for standard input, up to 4 MiB. Throws ConfigErrors.
PlanText read_plan_text(const std::filesystem::path& path);

// The plug-ins that a plan names; empty when it cannot be parsed, which load_plan_text reports.
std::vector<std::string> plan_plugins(const PlanText& plan);
// Where a plan has this value below one of these top-level keys; line 0 where it has not, or cannot be
// parsed.
Place place_in_plan(const PlanText& plan, std::initializer_list<std::string_view> keys,
                    std::string_view value);
// The value of a top-level key as it was written; none where the plan cannot be parsed.
std::optional<std::string> plan_value(const PlanText& plan, std::string_view key);

}  // namespace paceline::config
