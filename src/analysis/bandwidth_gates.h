// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/stored/run_result.h"

// Gates on the bandwidth of collectives.
namespace paceline::analysis {

// One result per size of `min_busbw` and collective case, decided on the interval of the bus bandwidth of
// operations one by one. `nccl_min`: NCCL_TESTS_MIN_BW of nccl-tests, as in the environment; it applies to
// the largest size, minus 10 % as in nccl-tests; empty: none. Both throw Error(kUsage) for a value that is no
// number.
double least_of_nccl_tests(const std::string& nccl_min);
std::vector<result::GateResult> bandwidth_gates(const result::RunResult& run, const std::string& nccl_min);

}  // namespace paceline::analysis
