// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/training.h"

// How often and in which steps a rank is late, in words; findings and traces say the same.
namespace paceline::analysis {

// "came last in 9 of 10 steps and caused all of the waiting"
std::string came_last_words(const result::LateRank& late);

// ", since step 10", ", every 4 steps"; empty where it is late throughout.
std::string when_late_words(const result::LateRank& late);

}  // namespace paceline::analysis
