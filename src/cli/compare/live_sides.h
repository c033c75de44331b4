// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>

#include "cli/compare/live_words.h"
#include "cli/context.h"
#include "compare/comparison.h"

namespace paceline::cli {

// Sides that were measured together, and the folder with their runs.
struct MeasuredSides {
  compare::Comparison comparison;
  std::filesystem::path folder;
};

// Measures the cases of both sides in one run of this program, in turns where they can be. Throws
// Error(kUsage) for sides with different numbers of cases, and for options that a comparison does not take.
MeasuredSides compare_live(const LiveWords& words, const Context& context, const Console& console);

// As above where a side is another program: a process of it for each repetition, A B B A.
MeasuredSides compare_programs(const LiveWords& words, const Context& context, const Console& console);

}  // namespace paceline::cli
