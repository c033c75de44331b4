// SPDX-License-Identifier: MIT
// From the settings of a collective case to what its ranks need. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "config/plan.h"
#include "pass/pass.h"

namespace paceline::run {

// Task of a sweep.
pass::CollectiveSpec collective_spec(const config::Settings& settings);

// The pass of every rank but for rank, plug-in, cores and rendezvous. `device`: cpu | cuda; `threads`: of a
// rank, where the case does not say.
pass::PassSpec collective_pass(const config::Case& c, const std::string& device, int threads);

// Sizes in bytes that a case sweeps; one of 0 for a barrier.
std::vector<std::int64_t> swept_sizes(const config::Settings& settings);

// Bytes that an operation of the largest size carries: what is asked for, in whole elements for every rank.
std::int64_t largest_bytes(const config::Case& c);

// Rough time of all repetitions: each size in both places, those that are large enough as long as their
// transfer.
double sweep_seconds(const config::Case& c);

}  // namespace paceline::run
