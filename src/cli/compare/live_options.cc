// SPDX-License-Identifier: MIT
#include "cli/compare/live_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "cli/compare/compare_options.h"
#include "compare/equal_sides.h"
#include "config/flags.h"
#include "host/machine/environment.h"
#include "result/figures/pair_ratio.h"

namespace paceline::cli {
namespace {

constexpr const char* kEqualSides = "equal_sides.json";  // in the cache folder
constexpr std::array<std::string_view, 10> kNotHere{"resume",    "only",       "dry_run",   "expect",
                                                    "junit",     "in_process", "nccl_json", "tool",
                                                    "self_test", "monitor"};

bool compares_equal_sides(const LiveWords& words) {
  return config::command_settings(words.own).flag("same");
}

}  // namespace

void refuse_options_of_runs(const config::FlagSet& flags) {
  for (const auto& setting : flags.settings)
    if (std::ranges::find(kNotHere, setting.name) != kNotHere.end())
      throw Error(
          ErrorCode::kUsage,
          fmt::format("{}: compare measures new runs of both sides and judges them itself; leave it out",
                      setting.written));
}

void require_pairs(const std::string& written, std::int64_t pairs) {
  if (pairs < result::kPairsForClaim)
    throw Error(ErrorCode::kUsage, fmt::format("{} {}: a verdict needs at least {} pairs of processes",
                                               written, pairs, result::kPairsForClaim));
}

compare::JudgeOptions judge_options(const LiveWords& words) {
  compare::JudgeOptions judge;
  judge.threshold = asked_threshold(config::command_settings(words.own));
  const auto host = host::host_digest();
  if (!host || compares_equal_sides(words)) return judge;
  const auto halfwidth = [&](compare::Pairing pairing) {
    return compare::equal_halfwidth(cache_dir() / kEqualSides, *host, pairing).value_or(0);
  };
  judge.equal = {halfwidth(compare::Pairing::kInTurns), halfwidth(compare::Pairing::kAlternating)};
  return judge;
}

void keep_if_same(const LiveWords& words, const compare::Comparison& comparison, const Console& console) {
  const auto host = host::host_digest();
  if (!host || !compares_equal_sides(words)) return;
  try {
    compare::keep_equal_sides(cache_dir() / kEqualSides, *host, comparison);
  } catch (const Error& error) {
    console.warn(error.what());
  }
}

}  // namespace paceline::cli
