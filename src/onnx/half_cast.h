// SPDX-License-Identifier: MIT
// Converts a graph to float16 with islands of float32.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace paceline::onnx {

struct HalfReport {
  int half_nodes = 0;                     // operators that compute in float16
  std::vector<std::string> islands;       // names of operators that stay in float32
  std::vector<std::string> control_flow;  // likewise, branches and loops with all in them
  std::int64_t clamped = 0;               // weights beyond ±65504
  std::int64_t flushed = 0;               // nonzero weights that became 0
};

// Rewrites the model to float16 in place; its inputs and outputs stay float32. Weights and all operators
// become float16 except those that lose too much in it (softmax, normalisation, sums, powers, exponentials,
// anything between two of them), those that need float32 (Resize, Range, …), branches and loops, whose graphs
// keep their types, sequences, and operators from outside the standard's sets.
HalfReport cast_to_half(proto::ModelProto& model);

}  // namespace paceline::onnx
