// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "onnx/proto.h"

// Files of older operator sets, made ready for quantisation.
namespace paceline::onnx {

inline constexpr std::int64_t kQuantiseOpset = 10;    // the first with QuantizeLinear
inline constexpr std::int64_t kPerChannelOpset = 13;  // the first whose DequantizeLinear knows channels

struct RaisedOpset {
  std::int64_t from = 0, to = 0;  // equal: nothing was done
  std::string stopped_by;         // the operator that means something else in the next set; empty: none
};

// Raises the default operator set to 13 where every operator in the graph means the same there, its
// attributes turned into inputs where they are inputs by then (Clip, Pad, Squeeze, …); else as far as that
// holds. Below operator set 9 nothing is done.
RaisedOpset raise_opset(proto::ModelProto& model);

}  // namespace paceline::onnx
