// SPDX-License-Identifier: MIT
// Findings about what kept a GPU from its clock.
#include <fmt/format.h>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "base/text.h"
#include "base/units.h"
#include "result/device_slowdown.h"

namespace paceline::analysis {
namespace {

// "the GPU of rank 0 was at its power cap in 50.0 % of the samples (mean clock 1,961 MHz)"; empty: its GPU
// was not slowed down.
std::string slowed_words(const result::RankFigures& rank) {
  std::vector<std::string> parts;
  for (const auto& one : result::parse_slowdowns(rank.evidence.device_slowdown))
    if (one.share > 0)
      parts.push_back(fmt::format("{} in {} of the samples",
                                  one.reason == result::kPowerCap ? "at its power cap" : "in " + one.reason,
                                  format_percent(one.share)));
  if (parts.empty()) return {};
  const auto& mhz = rank.evidence.device_mhz;
  return fmt::format("the GPU of rank {} was {}{}", rank.rank, join(parts, ", "),
                     mhz ? fmt::format(" (mean clock {:.0f} MHz)", *mhz) : "");
}

}  // namespace

Findings find_device_slowdown(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || !one.training) continue;
    std::vector<std::string> ranks;
    for (const auto& rank : one.training->ranks)
      if (auto words = slowed_words(rank); !words.empty()) ranks.push_back(std::move(words));
    if (ranks.empty()) continue;
    found.push_back(finding_about(
        {&one}, fmt::format("{}: {}.", one.label, join(ranks, "; ")),
        "clock and reasons that NVML reports, twice a second between steps",
        "Compare it only with runs at the same power limit and cooling; nvidia-smi -q -d POWER,CLOCK shows "
        "both."));
  }
  return found;
}

}  // namespace paceline::analysis
