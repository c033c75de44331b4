// SPDX-License-Identifier: MIT
// Converts a graph to float16 with islands of float32.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace paceline::onnx {

struct HalfOptions {
  bool keep_io = true;  // graph inputs and outputs stay float32
  // Weights beyond ±65504: false clamps and counts them, true throws Error(kData) naming the first.
  bool overflow_is_error = false;
};

struct HalfReport {
  int half_nodes = 0;                // operators that compute in float16
  std::vector<std::string> islands;  // names of operators that stay in float32
  std::int64_t clamped = 0;          // weights beyond ±65504
  std::int64_t flushed = 0;          // nonzero weights that became 0
  std::int64_t casts = 0;            // conversions that were inserted
};

// Rewrites the model to float16 in place: weights and all operators except those that lose too much in it
// (softmax, normalisation, sums, powers, exponentials, anything between two of them), those that need float32
// (Resize, Range, …), and operators from outside the standard's sets. Throws Error(kUnsupported) for control
// flow, whose inner graphs keep their types.
HalfReport cast_to_half(proto::ModelProto& model, const HalfOptions& options = {});

}  // namespace paceline::onnx
