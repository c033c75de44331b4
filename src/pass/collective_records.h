// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "base/json.h"
#include "result/stored/collective.h"
#include "result/stored/collective_times.h"

// Records of a sweep of collectives.
namespace paceline::pass {

// Before the first size: operation, backend, ranks.
nlohmann::json collective_record(const result::CollectiveResult& known);
// The times of one size on one rank, as they travel to rank 0; and of all ranks together, in their order.
std::string collective_times_text(const result::CollectiveTimes& of_one_rank);
nlohmann::json collective_times_record(const std::vector<std::string>& of_ranks);
nlohmann::json round_times_record(const std::vector<result::RoundTimes>& of_round);

}  // namespace paceline::pass
