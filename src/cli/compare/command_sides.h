// SPDX-License-Identifier: MIT
#pragma once
#include "cli/context.h"
#include "compare/comparison.h"
#include "config/flag_set.h"
#include "config/settings.h"

namespace paceline::cli {

// compare --command 'CMD A' 'CMD B': measures both. Throws Error(kUsage) for another number of commands.
compare::Comparison compared_commands(const config::FlagSet& flags, const config::Settings& options,
                                      const Console& console);

}  // namespace paceline::cli
