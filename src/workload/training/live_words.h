// SPDX-License-Identifier: MIT
// Warnings and figures for those who watch a training.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "pass/records.h"
#include "result/stored/rank_steps.h"
#include "result/stored/training.h"

namespace paceline::workload {

// Warnings about the last steps of all ranks; empty: there is nothing to warn of. Exchanges of gradients that
// take very different times, from 20 steps on; and the rank that the others wait for, with what is known of
// its cause.
std::string sync_warning(const result::Training& last_steps, std::int64_t steps);
std::string late_warning(const result::Training& last_steps);

// None of a single rank.
std::optional<pass::SlowestRank> slowest_rank(const result::Training& last_steps);

// From the last steps of one rank; `samples_per_step` of all. None without steps.
std::optional<pass::LiveSteps> live_steps(std::span<const result::StepRow> last_steps,
                                          std::int64_t samples_per_step,
                                          std::optional<pass::SlowestRank> slowest);

}  // namespace paceline::workload
