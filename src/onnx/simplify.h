// SPDX-License-Identifier: MIT
#pragma once
#include "onnx/proto.h"

// Simplifies a graph before its precision changes. Outputs stay the same up to rounding.
namespace paceline::onnx {

// Turns Constant nodes with numbers, and sparse initializers, into initializers, and removes initializers
// from the graph inputs (files of IR version 3 list them there, and a changed weight would become an input
// without a value).
void constants_to_initializers(proto::ModelProto& model);

// Lets nodes read the input of an Identity, or of a Dropout outside of training, instead of its output:
// exporters write equal weights once and their copies so, and no engine fuses over such a node's name. What a
// subgraph or the graph's outputs name stays. Returns how many reads moved.
int read_past_copies(proto::ModelProto& model);

// Turns the Transpose of an initializer into an initializer: exporters write shared weights of linear layers
// so. Returns how many.
int fold_transposed_weights(proto::ModelProto& model);

// Folds a BatchNormalization in inference form into the Conv that only it reads, computed in double: w' =
// w·γ/√(σ²+ε), b' = (b−μ)·γ/√(σ²+ε) + β (https://onnx.ai/onnx/operators/onnx__BatchNormalization.html).
// Returns how many.
int fold_batch_norm(proto::ModelProto& model);

// Drops nodes whose outputs are not read, then initializers that no node reads.
void remove_unused(proto::ModelProto& model);

// All of the above in order, after inline_functions.
void simplify(proto::ModelProto& model);

}  // namespace paceline::onnx
