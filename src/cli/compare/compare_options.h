// SPDX-License-Identifier: MIT
// Options of the command compare that its kinds share.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compare/matching.h"
#include "config/flag_set.h"
#include "config/settings.h"

namespace paceline::cli {

// "3%", "3 %" or "0.03" as a share. Throws Error(kUsage) for what is none, or not between 0 and 1.
double threshold_of(const std::string& text);

std::optional<double> asked_threshold(const config::Settings& options);
std::vector<compare::Match> asked_matches(const config::Settings& options);

// Throws Error(kUsage) for an option that only --command takes, and for one that it does not take.
void check_compare_options(const config::FlagSet& flags, bool commands);

}  // namespace paceline::cli
