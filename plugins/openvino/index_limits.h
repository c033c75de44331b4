// SPDX-License-Identifier: MIT
// Finds what integer inputs of a model in OpenVINO's own format index.
#pragma once
#include <openvino/core/model.hpp>
#include <vector>

#include "base/declared_input.h"

namespace paceline::openvino_plugin {

// Sets id_limit and indexes of the inputs whose integers reach a Gather unchanged but for type and shape.
// `inputs` are the model's, in its order.
void add_index_limits(const ov::Model& model, std::vector<DeclaredInput>& inputs);

}  // namespace paceline::openvino_plugin
