// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "base/tensor.h"
#include "pass/pass.h"
#include "plugin/engine.h"
#include "result/stored/case_result.h"

namespace paceline::workload {

// The first elements along each dimension; no size may be above the tensor's.
Tensor corner_of(const TensorView& tensor, const Shape& sizes);

// Times the first and the second inference of each of the spec's new shapes in the loaded engine, binding
// included. What an engine refuses has the reason instead.
std::vector<result::NewShape> time_new_shapes(const pass::PassSpec& spec, plugin::Engine& engine);

}  // namespace paceline::workload
