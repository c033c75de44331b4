// SPDX-License-Identifier: MIT
#pragma once
#include "onnx/proto.h"

// What is done to a graph before it changes its precision. Outputs stay the same up to rounding.
namespace paceline::onnx {

// Constant nodes with a tensor become initializers; initializers are no graph inputs any more (files of IR
// version 3 list them there, and a changed weight would then be an input nobody gives).
void constants_to_initializers(proto::ModelProto& model);

// Transpose of an initializer becomes an initializer: linear layers that share a weight are exported so.
// Returns how many.
int fold_transposed_weights(proto::ModelProto& model);

// Conv followed only by BatchNormalization in inference form becomes one Conv with bias, computed in double:
//   w' = w·γ/√(σ²+ε),  b' = (b−μ)·γ/√(σ²+ε) + β
//   (https://onnx.ai/onnx/operators/onnx__BatchNormalization.html)
// Returns how many.
int fold_batch_norm(proto::ModelProto& model);

// Drops nodes whose outputs nobody reads, then initializers that no node reads.
void remove_unused(proto::ModelProto& model);

// All of the above in order.
void simplify(proto::ModelProto& model);

}  // namespace paceline::onnx
