// SPDX-License-Identifier: MIT
#pragma once
#include "onnx/proto.h"

namespace paceline::onnx {

// Rewrites sums and means over axes of the main graph (ReduceSum, ReduceMean, GlobalAveragePool) so that they
// add one element after the other, through all neighbouring axes, as engines may that keep one partial sum a
// channel. Returns how many were rewritten; none below opset 11.
int sum_in_sequence(proto::ModelProto& model);

}  // namespace paceline::onnx
