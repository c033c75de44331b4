// SPDX-License-Identifier: MIT
// Environment variables of nccl-tests: honoured, or refused before anything runs.
#pragma once
#include <string>

#include "base/own_environment.h"

namespace paceline::run {

// The value of NCCL_TESTS_MIN_BW; empty: none.
std::string nccl_tests_minimum(const Environment& environment);

// Throws Error(kUsage) where that is no number, and for a variable of nccl-tests that would change what is
// measured there and has no effect here.
void check_nccl_tests_variables(const Environment& environment);

}  // namespace paceline::run
