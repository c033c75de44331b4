// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/shapes.h"

// Which numbers generated inputs consist of: what is written, and what the model file says.
namespace paceline::config {

// The numbers of one input: drawn evenly between two, both of which may occur.
struct InputValues {
  std::string name;
  double from = 0, to = 0;
  bool below_batch = false;  // `to` is the batch size less one
};

// "ids:0..30521", "sr:16000", "beam_idx:0..{batch}-1"; the name may hold colons. Throws Error(kConfig).
InputValues parse_input_values(std::string_view text);
std::string input_values_text(const InputValues& values);

// Whether an input has integers that are all 1 unless values are given.
bool needs_values(DType dtype);

// Throws Error(kConfig) where the input's type cannot hold the values.
void check_values(const InputValues& values, DType dtype);

// Values that the file declares for an integer input: it indexes a table, or a dimension of another input.
std::optional<InputValues> declared_values(const DeclaredInput& input, std::span<const InputShape> inputs);

}  // namespace paceline::config
