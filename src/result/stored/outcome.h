// SPDX-License-Identifier: MIT
// How a case ended, and its name in files.
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

}  // namespace paceline::result
