// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

namespace paceline::analysis {

// LateCause::name, of traces alone: other causes are in result/stored/rank_evidence.h.
inline constexpr const char* kLargerInputs = "larger_inputs";

// Words for a reader about one kind of result::LateCause; `advice` is for advice_to().
struct CauseWords {
  std::string_view name, words, advice;
};
// Throws nothing: a name of a newer version is its own words and has no advice.
CauseWords words_of_cause(std::string_view name);

}  // namespace paceline::analysis
