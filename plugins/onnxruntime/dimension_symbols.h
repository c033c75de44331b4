// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

namespace paceline::ort_plugin {

// The symbols of an input's dimensions: "" for a fixed or nameless one.
struct DimensionSymbols {
  std::string input;
  std::vector<std::string> symbols;
};

// What an ONNX file calls the open dimensions of its inputs, without reading its weights: ONNX Runtime wants
// sizes for these names before it opens the file. What is no ONNX file has none; ONNX Runtime will say what
// is wrong with it.
std::vector<DimensionSymbols> read_dimension_symbols(const std::string& file);

}  // namespace paceline::ort_plugin
