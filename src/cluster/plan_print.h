// SPDX-License-Identifier: MIT
// Finds where the plans of two processes differ, of which each knows its own and a print of the other.
#pragma once
#include <string>

namespace paceline::cluster {

// Four characters for each line of a plan.
std::string plan_print(const std::string& plan);

// The key of the first line of `plan` ("key: value", indented below the key of its section) that is not as in
// the plan of this print: "training.lr". Empty where there is none, or no print.
std::string first_difference(const std::string& plan, const std::string& print);

}  // namespace paceline::cluster
