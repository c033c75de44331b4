// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "config/model.h"
#include "config/shapes.h"

namespace paceline::config {

// Why files of load_inputs cannot be arrays for these inputs, judged by their names and headers; empty:
// they may be. Problems that only reading shows are refused where they are used.
std::string unfit_inputs(const std::vector<std::string>& load_inputs, const std::vector<InputShape>& inputs);

// The inputs of a built-in model in the same form.
std::vector<InputShape> inputs_of(const Model& model);

}  // namespace paceline::config
