// SPDX-License-Identifier: MIT
// Readings of a run's meters before its first worker loads anything. They are taken once, and kept in the
// folder of the run, so that a run that is resumed has them too.
#pragma once
#include <vector>

#include "run/case/pass_runner.h"

namespace paceline::run {

// Empty where nothing was read yet.
std::vector<result::SampledWindow> kept_idle_power(const std::filesystem::path& run);

// Applies it to a case: if its variables number the GPUs, none has idle power, for that reason.
std::vector<result::SampledWindow> idle_power_of(const config::Case& c,
                                                 std::vector<result::SampledWindow> read);

// Reads the meters of all cases that are still to be measured, which takes half a second, and keeps what they
// show. Nothing happens where there is no such meter.
void read_idle_power(CaseRuns& cases, const PassRunner& runner, const std::filesystem::path& run);

}  // namespace paceline::run
