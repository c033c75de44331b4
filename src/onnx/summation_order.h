// SPDX-License-Identifier: MIT
#pragma once
#include "onnx/proto.h"

namespace paceline::onnx {

// Rewrites sums and means over axes of the main graph (ReduceSum, ReduceMean, GlobalAveragePool) so that they
// add one element after the other: axis by axis, as engines that keep few partial sums, or through all
// neighbouring axes at once, as those that keep one a channel; then norms (InstanceNormalization,
// LayerNormalization) do, too. Returns how many changed by that; at once, not those over one axis. None below
// opset 11.
enum class SumOrder { kAxisByAxis, kAtOnce };
int sum_in_sequence(proto::ModelProto& model, SumOrder order);

}  // namespace paceline::onnx
