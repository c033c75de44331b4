// SPDX-License-Identifier: MIT
// From the settings of a collective case to what its ranks need. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "config/plan.h"
#include "pass/pass.h"

namespace paceline::run {

// The pass of every rank but for rank, plug-in, cores and rendezvous. `device`: cpu | cuda.
pass::PassSpec collective_pass(const config::Case& c, const std::string& device, int threads);

// Sizes in bytes from min_bytes to max_bytes, as nccl-tests steps through them.
std::vector<std::int64_t> swept_sizes(const config::Settings& settings);

}  // namespace paceline::run
