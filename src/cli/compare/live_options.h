// SPDX-License-Identifier: MIT
// Options of comparisons that measure both sides, whichever program measures them.
#pragma once
#include <cstdint>
#include <string>

#include "cli/compare/live_words.h"
#include "cli/context.h"
#include "compare/figures.h"
#include "config/flag_set.h"

namespace paceline::cli {

// Throws Error(kUsage) for options of a run that a comparison decides itself, or has no place for.
void refuse_options_of_runs(const config::FlagSet& flags);

// Throws Error(kUsage) for fewer pairs of processes than a verdict needs; `written`: the flag.
void require_pairs(const std::string& written, std::int64_t pairs);

// The threshold that was asked for, and how far equal sides differ on this machine unless these are equal.
compare::JudgeOptions judge_options(const LiveWords& words);

// Keeps what a comparison of equal sides shows of this machine; warns if it cannot.
void keep_if_same(const LiveWords& words, const compare::Comparison& comparison, const Console& console);

}  // namespace paceline::cli
