// SPDX-License-Identifier: MIT
// Says how to measure an arm again and how to serve its model with the same settings.
#pragma once
#include <string>
#include <vector>

#include "config/plan.h"

namespace paceline::cli {

// The plan of this arm alone, with as many processes as a claim needs.
std::string plan_of_arm(const config::Plan& all, const config::Case& arm);

// Lines of Python that load and run the model as the arm does; none for an engine without a Python package.
std::vector<std::string> python_of_arm(const config::Case& arm);

// The command that writes the file that these lines load; empty: it is the model itself.
std::string export_command(const config::Case& arm);

}  // namespace paceline::cli
