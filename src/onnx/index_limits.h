// SPDX-License-Identifier: MIT
// Finds what integer inputs of an ONNX file index.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/declared_input.h"

namespace paceline::onnx {

// Sets id_limit and indexes of the inputs whose integers reach an operator that indexes with them, unchanged
// but for their type and shape. Reads no weights.
void add_index_limits(const std::string& file, std::vector<DeclaredInput>& inputs);

// The integers that a file compares its inputs with, by input.
std::map<std::string, std::int64_t> compared_numbers(const std::string& file);

}  // namespace paceline::onnx
