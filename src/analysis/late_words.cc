// SPDX-License-Identifier: MIT
#include "analysis/late_words.h"

#include <fmt/format.h>

#include <cmath>

#include "base/units.h"

namespace paceline::analysis {
namespace {

constexpr double kAll = 0.995;  // of the waiting

// With gradient accumulation, ranks wait for each other only in steps that exchange gradients.
const char* unit(const result::LateRank& late) {
  return late.steps > late.exchanges ? "exchange" : "step";
}

}  // namespace

std::string came_last_words(const result::LateRank& late) {
  const bool always = late.late_exchanges == late.exchanges;
  const auto times =
      always ? std::llround(*late.last_share * static_cast<double>(late.exchanges)) : late.late_exchanges;
  std::string text = fmt::format("{} in {} of {}", always ? "came last" : "was late", times,
                                 plural(late.exchanges, unit(late)));
  if (late.waiting_share)
    text += fmt::format(" and caused {} of the waiting",
                        *late.waiting_share >= kAll ? "all" : format_percent(*late.waiting_share, 0));
  return text;
}

std::string when_late_words(const result::LateRank& late) {
  const bool begins = late.since_step > late.first_step, ends = late.until_step < late.last_step;
  if (late.every > 0) return fmt::format(", every {} {}s", late.every, unit(late));
  if (begins && ends) return fmt::format(", from step {} to step {}", late.since_step, late.until_step);
  if (begins) return fmt::format(", since step {}", late.since_step);
  if (ends) return fmt::format(", until step {}", late.until_step);
  if (late.late_exchanges < late.exchanges)
    return fmt::format(", in {} of {}", late.late_exchanges, plural(late.exchanges, unit(late)));
  return {};
}

}  // namespace paceline::analysis
