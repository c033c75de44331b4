// SPDX-License-Identifier: MIT
// Decides whether the code that a plan names may be loaded.
#pragma once
#include <optional>

#include "config/flag_set.h"
#include "config/plan.h"
#include "config/plan_text.h"
#include "config/settings.h"

namespace paceline::cli {

// Throws ConfigErrors(kUsage) where a plan, also that of a stored run, names code, and its file or folder is
// not this user's own. --trust allows it. Nothing is loaded before.
void check_trust(const config::FlagSet& flags, const config::Settings& options,
                 const std::optional<config::PlanText>& plan);

}  // namespace paceline::cli
