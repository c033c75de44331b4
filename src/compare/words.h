// SPDX-License-Identifier: MIT
// Writes changes of figures as people say them.
#pragma once
#include <string>

#include "compare/comparison.h"

namespace paceline::compare {

// "54.1 ms", "312 MB", "0.953"; "–" where there is none.
std::string value_words(const Figure& figure, const Number& value);

// "8.4 % slower", "2.3 times as long", "1.2 points lower", "no difference"; "–" without a change.
std::string change_words(const Figure& figure);

// "6.3–10.6 %", in the direction of the change: "-1.2 to 3.4 %"; empty without an interval.
std::string range_words(const Figure& figure);

// "8.4 % slower (6.3–10.6 %, 6 pairs)"; with `apart` processes are no pairs.
std::string change_with_range(const Figure& figure, Pairing pairing);

// Says what became of the control. Only for a comparison that has one.
std::string control_words(const Comparison& comparison);

// "resnet50 onnxruntime b8", with words that differ, and the side of several.
std::string case_words(const Comparison& comparison, const ComparedCase& one);

// Adds the figure where it is not the headline.
std::string subject_words(const Comparison& comparison, const ComparedCase& one, const Figure& figure);

// The answer in one sentence: each proven change, at most three of them, or that there is none.
std::string sentence_of(const Comparison& comparison);

}  // namespace paceline::compare
