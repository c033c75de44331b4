// SPDX-License-Identifier: MIT
// How a case ended and why, and the names in files.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace paceline::result {

enum class Outcome { kOk, kSkipped, kFailed };
inline constexpr std::array<std::pair<Outcome, std::string_view>, 3> kOutcomeNames{
    {{Outcome::kOk, "ok"}, {Outcome::kSkipped, "skipped"}, {Outcome::kFailed, "failed"}}};
constexpr std::string_view name_of(Outcome outcome) {
  return kOutcomeNames.at(static_cast<std::size_t>(outcome)).second;
}

// Why a measured case has no more repetitions: all planned ones are there, or its schedule or a user ended
// it.
enum class EndedBecause { kPlanned, kEliminated, kNarrowEnough, kInterrupted };
inline constexpr std::array<std::pair<EndedBecause, std::string_view>, 4> kEndings{
    {{EndedBecause::kPlanned, "planned"},
     {EndedBecause::kEliminated, "eliminated"},  // others are better beyond doubt
     {EndedBecause::kNarrowEnough, "narrow_enough"},
     {EndedBecause::kInterrupted, "interrupted"}}};

}  // namespace paceline::result
