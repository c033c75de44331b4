// SPDX-License-Identifier: MIT
#pragma once
#include "onnx/proto.h"

namespace paceline::onnx {

// Replaces calls of the file's own functions, also those in branches, loops and other functions, by the nodes
// of the function, as engines do. Names of the new nodes and values begin with that of the call. A function
// that relies on another version of an operator set than the file stays, as does one that calls itself.
// Returns how many calls were replaced.
int inline_functions(proto::ModelProto& model);

// The function that a node calls; null: it is an operator.
const proto::FunctionProto* called_function(const proto::ModelProto& model, const proto::NodeProto& node);

}  // namespace paceline::onnx
