// SPDX-License-Identifier: MIT
// Decides whether the code that a plan names may be loaded.
#pragma once
#include <optional>

#include "config/flag_set.h"
#include "config/plan.h"
#include "config/plan_text.h"
#include "config/settings.h"

namespace paceline::cli {

// Throws ConfigErrors(kUsage) where a plan names code and may be somebody else's: its file or folder is not
// this user's own, or it is that of a stored run, and no run of this user has loaded the same. --trust allows
// it. Nothing is loaded before.
void check_trust(const config::FlagSet& flags, const config::Settings& options,
                 const std::optional<config::PlanText>& plan);

// Remembers in the cache folder what a run loads, so that --resume may load it again. Without such a folder
// nothing is kept.
void remember_code(const config::Plan& plan);

}  // namespace paceline::cli
