// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/declared_input.h"
#include "base/tensor.h"

namespace paceline::onnx {

// What an ONNX file says of its inputs, initializers left out, without reading its weights: the file is
// mapped and only the messages around them are looked at. What is no ONNX file has no inputs.
std::vector<DeclaredInput> read_declared_inputs(const std::string& file);

// The shape of the first output, -1 where the file leaves a size open; nothing where it gives no shape.
std::optional<Shape> read_first_output_shape(const std::string& file);

}  // namespace paceline::onnx
