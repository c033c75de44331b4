// SPDX-License-Identifier: MIT
// Finds what integer inputs of an ONNX file index.
#pragma once
#include <string>
#include <vector>

#include "base/declared_input.h"

namespace paceline::onnx {

// Sets id_limit and indexes of the inputs whose integers reach an operator that indexes with them, unchanged
// but for their type and shape. Reads no weights.
void add_index_limits(const std::string& file, std::vector<DeclaredInput>& inputs);

}  // namespace paceline::onnx
