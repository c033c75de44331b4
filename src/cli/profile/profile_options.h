// SPDX-License-Identifier: MIT
// Options that `profile` adds to the command line of a training.
#pragma once
#include "cli/context.h"
#include "config/flags.h"
#include "config/plan_text.h"
#include "config/settings.h"

namespace paceline::cli {

bool is_self_test(const config::Settings& options);

// Error(kUsage) for options that --from would ignore.
void check_from(const config::FlagSet& flags);

// The plan of --self-test: a training per cause, and one without.
config::PlanText self_test_plan();

// The flags with a pass under the profiler, one repetition, and the duration in which steps are timed, where
// the user did not say otherwise. Error(kUsage) for an invalid duration, and for an option with
// --self-test that would change what it trains.
config::FlagSet with_profile(config::FlagSet flags);

}  // namespace paceline::cli
