// SPDX-License-Identifier: MIT
// From the settings of a case to the common settings of its ranks. Pure.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "config/plan.h"
#include "pass/pass.h"

namespace paceline::run {

// Least memory of a rank: one of tiny_cnn, whose state is 0.4 MB, used 88 MB alone (LibTorch on Linux).
inline constexpr double kRankProcessBytes = 64e6;

// cpu | cuda; `automatic` is what device: auto means here.
std::string rank_device(const config::Case& c, const std::string& automatic);

// How the ranks of a case meet, but for the address. `device` is that of rank_device.
pass::RankSpec rank_spec(const config::Case& c, const std::string& device);

// Why the ranks, all started on this host, cannot have a device each where their backend wants that; empty:
// they can. `devices`: that are visible; 0: not known.
std::string too_few_devices(const pass::PassSpec& pass, int devices);

// Counts among a case's ranks those that share the CPUs of this process; empty: all of them.
using RanksHere = std::function<std::int64_t(std::int64_t ranks)>;

// Threads of a rank for cases that do not say: the cores over the most ranks that any of these cases puts on
// them, so that they stay the same over a sweep. At least one.
int threads_per_rank(const std::vector<config::Case>& cases, int cores, const RanksHere& ranks_here = {});

// Equal where every option of the case is.
std::string plan_hash(const config::Case& c);

}  // namespace paceline::run
