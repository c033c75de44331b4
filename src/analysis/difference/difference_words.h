// SPDX-License-Identifier: MIT
// Shows an explanation: sections, the finding about its first cause, figures for programs.
#pragma once
#include <optional>
#include <string>

#include "analysis/difference/explanation.h"
#include "answer/answer.h"
#include "base/json.h"

namespace paceline::analysis::difference {

// "conv4_x takes 3.1 of the 3.4 ms more; it ran in fp32 instead of int8", or why nothing is explained.
std::string sentence_of(const Explanation& explanation);

// A table of the parts (A, B, change with interval, share of the difference) with its waterfall; only a
// paragraph where nothing is explained.
answer::Sections sections_of(const Explanation& explanation);

// About the first cause, else that no single part explains the difference; none where nothing is explained.
std::optional<answer::Finding> finding_of(const Explanation& explanation);

// {unit, no_claim, from_ns, to_ns, difference_ns, interval_ns, explained_share, rows: [...]}; null and
// "<field>_reason" for missing numbers.
nlohmann::json json_of(const Explanation& explanation);

}  // namespace paceline::analysis::difference
