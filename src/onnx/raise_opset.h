// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "onnx/proto.h"

// Raises files of older operator sets, so that they can be quantised.
namespace paceline::onnx {

inline constexpr std::int64_t kQuantiseOpset = 10;    // the first with QuantizeLinear
inline constexpr std::int64_t kPerChannelOpset = 13;  // the first whose DequantizeLinear has channels

struct RaisedOpset {
  std::int64_t from = 0, to = 0;  // equal: nothing was changed
  std::string stopped_by;         // the operator whose meaning changes in the next set; empty: none
};

// Raises the default operator set to 13, or as far as every operator in the graph keeps its meaning.
// Attributes become inputs where the newer set has them as inputs (Clip, Pad, Squeeze, …). Does nothing below
// operator set 9.
RaisedOpset raise_opset(proto::ModelProto& model);

}  // namespace paceline::onnx
