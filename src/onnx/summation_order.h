// SPDX-License-Identifier: MIT
#pragma once
#include "onnx/proto.h"

namespace paceline::onnx {

// Rewrites sums and means over axes of the main graph (ReduceSum, ReduceMean, GlobalAveragePool) so that they
// add one element after the other, axis by axis, as engines may that keep few partial sums. Returns how many
// were rewritten; none below opset 11.
int sum_in_sequence(proto::ModelProto& model);

}  // namespace paceline::onnx
