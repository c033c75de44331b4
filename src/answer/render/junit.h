// SPDX-License-Identifier: MIT
// Writes checks as JUnit XML.
#pragma once
#include <string>
#include <vector>

#include "answer/answer.h"

namespace paceline::answer {

// Whether the checks were timed: without times, no test has one.
enum class CheckTimes { kTaken, kNotTaken };

// A suite "NAME.GROUP" for each of the groups, also for one without checks. `output`: text of the first
// suite; empty: none.
std::string junit_xml(const std::string& name, const std::vector<std::string>& groups,
                      const std::vector<Check>& checks, CheckTimes times, const std::string& output = {});

}  // namespace paceline::answer
