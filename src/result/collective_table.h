// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/stored/run_result.h"

namespace paceline::result {

// collectives.csv: of each sweep, size and place a row per way of timing, below the names of the columns. The
// cell of a missing number is empty.
std::string collectives_csv(const RunResult& run);

}  // namespace paceline::result
