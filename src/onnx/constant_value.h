// SPDX-License-Identifier: MIT
// Values of constants, in whichever of the format's forms they are written.
#pragma once
#include <optional>

#include "onnx/proto.h"

namespace paceline::onnx {

// The tensor that a Constant node gives, without a name: its attribute value, value_float(s), value_int(s) or
// sparse_value. Empty for other nodes, for texts, and for what dense_of does not take.
std::optional<proto::TensorProto> constant_value(const proto::NodeProto& node);

// A sparse tensor with its zeros, under the name of its values. Empty for types without a name here. Throws
// Error(kData) for places that are not in the tensor.
std::optional<proto::TensorProto> dense_of(const proto::SparseTensorProto& sparse);

}  // namespace paceline::onnx
