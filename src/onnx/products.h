// SPDX-License-Identifier: MIT
#pragma once
#include "onnx/placement.h"
#include "onnx/proto.h"
#include "onnx/raise_opset.h"

// Gives matrix products the form in which engines compute them in integers.
namespace paceline::onnx {

// ONNX Runtime fuses MatMul and Add to Gemm before it looks for integer operators, and computes a Gemm in
// integers only with factors of 1 and one bias per column. So a product of matrices that is added to becomes
// such a Gemm, factors move into constants, and what is no constant row is added by a node of its own. In a
// product of more dimensions the bias becomes a matrix, which keeps it from being fused. Answers stay the
// same up to rounding. `ranks`: dimensions of the values that products read; a MatMul without stays as it is.
void settle_products(proto::ModelProto& model, const Placement& placement, const Ranks& ranks);

}  // namespace paceline::onnx
