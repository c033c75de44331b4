// SPDX-License-Identifier: MIT
#pragma once
#include "answer/answer.h"
#include "result/stored/training.h"

namespace paceline::report {

inline constexpr const char* kDisturbancesTitle = "What disturbed the ranks, per step";

// Disturbances of each rank that was sampled, with the columns in which some rank has a figure.
answer::Table disturbance_table(const result::Training& training);

}  // namespace paceline::report
