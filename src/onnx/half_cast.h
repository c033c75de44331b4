// SPDX-License-Identifier: MIT
// Converts a graph to float16 with islands of float32.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace paceline::onnx {

struct HalfReport {
  int half_nodes = 0;                // operators that compute in float16
  std::vector<std::string> islands;  // names of operators that stay in float32
  std::int64_t clamped = 0;          // weights beyond ±65504
  std::int64_t flushed = 0;          // nonzero weights that became 0
};

// Rewrites the model to float16 in place; its inputs and outputs stay float32. Weights and all operators
// become float16 except those that lose too much in it (softmax, normalisation, sums, powers, exponentials,
// anything between two of them), those that need float32 (Resize, Range, …), and operators from outside the
// standard's sets. Throws Error(kUnsupported) for control flow, whose inner graphs keep their types.
HalfReport cast_to_half(proto::ModelProto& model);

}  // namespace paceline::onnx
