// SPDX-License-Identifier: MIT
// Parts of an answer as tables, for the forms that people read.
#pragma once
#include <vector>

#include "answer/answer.h"

namespace paceline::answer {

// Verdict, name, facts and what to do of each check.
Table checks_table(const std::vector<Check>& checks);

}  // namespace paceline::answer
