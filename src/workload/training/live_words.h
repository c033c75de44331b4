// SPDX-License-Identifier: MIT
// Words for people who watch a training.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "result/rank_steps.h"
#include "result/training.h"

namespace paceline::workload {

// Warnings about the last steps of all ranks; empty: there is nothing to warn of. Exchanges of gradients that
// take very different times, from 20 steps on; and the rank that the others wait for, with what is known of
// its cause.
std::string sync_warning(const result::Training& last_steps, std::int64_t steps);
std::string late_warning(const result::Training& last_steps);

// The rank that computes longest, and by how much longer than the median one: "slowest: rank 1 (+1.8 %)".
// Empty for a single rank.
std::string slowest_words(const result::Training& last_steps);

// Throughput of all ranks, loss, and shares of the step, from the last steps of one rank. Empty without
// steps.
std::string live_figures(std::span<const result::StepRow> last_steps, std::int64_t samples_per_step,
                         const std::string& slowest);

}  // namespace paceline::workload
