// SPDX-License-Identifier: MIT
#include "cli/compare/compare_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"

namespace paceline::cli {
namespace {

constexpr std::array<std::string_view, 6> kOfCommands{"prepare",    "command_warmup", "command_repetitions",
                                                      "block_seed", "shell",          "ignore_failure"};
constexpr std::array<std::string_view, 2> kOfRuns{"match", "allow_env_diff"};

}  // namespace

double threshold_of(const std::string& text) {
  auto number = trim(text);
  const bool percent = number.ends_with('%');
  if (percent) number = trim(number.substr(0, number.size() - 1));
  const auto value = parse_double(number);
  const double share = value.value_or(-1) / (percent ? 100 : 1);
  if (!value || share <= 0 || share >= 1)
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--threshold {}: write a share above 0 and below 1, or percent: 0.03, 3%{}",
                    shown_value(text),
                    value && !percent && *value >= 1 ? fmt::format("; did you mean {}%?", number) : ""));
  return share;
}

std::optional<double> asked_threshold(const config::Settings& options) {
  if (!options.has("threshold")) return std::nullopt;
  return threshold_of(options.text("threshold"));
}

std::vector<compare::Match> asked_matches(const config::Settings& options) {
  std::vector<compare::Match> matches;
  for (const auto& text : options.texts("match")) matches.push_back(compare::parse_match(text));
  return matches;
}

void check_compare_options(const config::FlagSet& flags, bool commands) {
  for (const auto& setting : flags.settings) {
    if (!commands && std::ranges::find(kOfCommands, setting.name) != kOfCommands.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} belongs to --command; stored runs were measured before", setting.written));
    if (commands && std::ranges::find(kOfRuns, setting.name) != kOfRuns.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} is about stored runs; commands are measured here", setting.written));
  }
}

}  // namespace paceline::cli
