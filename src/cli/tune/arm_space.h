// SPDX-License-Identifier: MIT
// The arms of a search, as words of the command that runs its cases.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "cli/tune/tune_request.h"
#include "config/flag_set.h"

namespace paceline::cli {

// Most arms of one search.
inline constexpr std::size_t kMostArms = 200;

// Throws Error(kUsage) for options that a search decides itself.
void refuse_options(const config::FlagSet& typed);

// The typed words with those of the axes, the limits and the rounds. An option that was typed stays as it is.
// Throws Error(kUsage) for options that a search decides itself, for axes that the kind does not have or that
// choose nothing here, and for more arms than kMostArms.
std::vector<std::string> words_of_arms(const TuneRequest& request, const config::FlagSet& typed,
                                       std::size_t rounds);

}  // namespace paceline::cli
