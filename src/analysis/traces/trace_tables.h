// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <vector>

#include "analysis/traces/exchanges.h"
#include "analysis/traces/rank_trace.h"
#include "result/figures/step_account.h"
#include "result/stored/rank_steps.h"

namespace paceline::analysis::traces {

// The tables that the rest of Paceline takes accounts from. A row lasts from the last exchange of all ranks
// in the step before to that of its own, so that what a rank does after an exchange is in the row of the
// exchange that waits for it.
std::vector<result::RankSteps> tables_of(const std::vector<RankTrace>& ranks, const Waits& waits);

// Mean communication per step of a rank, exposed or not, over the steps of the accounts of these tables.
double mean_communication(const std::vector<RankTrace>& ranks, std::size_t rank, const Waits& waits,
                          const std::vector<result::StepAccount>& accounts);

}  // namespace paceline::analysis::traces
