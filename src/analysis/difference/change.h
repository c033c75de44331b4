// SPDX-License-Identifier: MIT
// Kinds of rows in an explanation.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace paceline::analysis::difference {

enum class Change : std::uint8_t {
  kSlower,
  kFaster,
  kNew,
  kVanished,
  kPrecision,    // it ran in another one
  kCalls,        // another number of them
  kFused,        // one part does the work of several of the other side
  kRest,         // all other parts together
  kUnexplained,  // of the whole, in no part: gaps, and what profilers add on one side more than on the other
};
inline constexpr std::array<std::string_view, 9> kChangeWords{
    "slower", "faster", "new", "vanished", "precision", "calls", "fused", "rest", "unexplained"};
constexpr std::string_view change_word(Change change) {
  return kChangeWords.at(static_cast<std::size_t>(change));
}

}  // namespace paceline::analysis::difference
