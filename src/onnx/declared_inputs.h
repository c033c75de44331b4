// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/declared_input.h"
#include "base/tensor.h"

namespace paceline::onnx {

// Reads what an ONNX file declares about its inputs, except initializers, without reading its weights: the
// file is mapped, and only the messages around them are looked at. A file that is not ONNX has no inputs.
// Throws Error(kUnsupported) for an input that is no tensor.
std::vector<DeclaredInput> read_declared_inputs(const std::string& file);

// Sizes for the symbols in the file's input shapes, as the given inputs have them. A symbol with several
// sizes is left out (some exporters call every open dimension "?"), and so is that of a batch that is free.
// An input with another number of dimensions is left to the check of inputs.
std::map<std::string, std::int64_t> symbol_sizes(const std::string& file, std::span<const TensorSpec> inputs,
                                                 bool free_batch = false);

// Throws Error(kData) for a file that is not ONNX or has no graph.
void require_graph(const std::string& file);

// The shape of the first output, -1 where a size is open; none where the file gives no shape.
std::optional<Shape> read_first_output_shape(const std::string& file);

// Whether the file has a convolution or a matrix product, without which nothing of it can run in int8. Those
// in its own functions count, those in branches and loops do not.
bool has_products(const std::string& file);

}  // namespace paceline::onnx
