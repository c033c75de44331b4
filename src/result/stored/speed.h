// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/worded.h"

namespace paceline::result {

// How fast one is beside another.
enum class Speed : std::uint8_t { kNoClaim, kFaster, kSlower, kEquivalent, kInconclusive };

struct SpeedTraits {
  using Value = Speed;
  static constexpr Speed kDefault = Speed::kNoClaim;

  Speed speed;
  std::string_view of_cases;  // of a case beside its baseline
  std::string_view of_tools;  // of Paceline beside the engine's own tool
};
inline constexpr std::array<SpeedTraits, 5> kSpeeds{{{Speed::kNoClaim, "", ""},
                                                     {Speed::kFaster, "faster", "faster"},
                                                     {Speed::kSlower, "slower", "slower"},
                                                     {Speed::kEquivalent, "equivalent", "equal"},
                                                     {Speed::kInconclusive, "inconclusive", "cannot_say"}}};
constexpr const auto& rows_of(Speed) {
  return kSpeeds;
}
constexpr const SpeedTraits& traits_of(Speed speed) {
  return kSpeeds.at(static_cast<std::size_t>(speed));
}
using SpeedOfCase = Worded<&SpeedTraits::of_cases>;
using SpeedOfTool = Worded<&SpeedTraits::of_tools>;

// Which of the two is faster is known.
constexpr bool is_difference(Speed speed) {
  return speed == Speed::kFaster || speed == Speed::kSlower;
}

}  // namespace paceline::result
