// SPDX-License-Identifier: MIT
// Compares the answers of two cases input by input, where both stored which of the same labelled inputs they
// answered rightly.
#pragma once
#include <optional>

#include "compare/comparison.h"
#include "result/stored/case_result.h"
#include "stats/proportion.h"

namespace paceline::compare {

// Inputs that only A (lost) or only B (gained) answered rightly. Empty if a side stored no single answers, or
// the hashes do not prove that the inputs are the same.
std::optional<stats::PairedCounts> paired_answers(const result::Correctness& a, const result::Correctness& b);

// Fills in the change of top-1 with Tango's interval, and the verdict of the exact McNemar test.
void judge_answers(Figure& figure, const stats::PairedCounts& counts);

}  // namespace paceline::compare
