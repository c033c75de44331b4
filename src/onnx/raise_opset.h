// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "onnx/proto.h"

// Raises files of older operator sets, so that they can be quantised.
namespace paceline::onnx {

inline constexpr std::int64_t kQuantiseOpset = 10;    // the first with QuantizeLinear
inline constexpr std::int64_t kPerChannelOpset = 13;  // the first whose DequantizeLinear has channels

using Ranks = std::map<std::string, int>;  // number of dimensions by value

struct RaisedOpset {
  std::int64_t from = 0, to = 0;  // equal: nothing was changed
  std::string stopped_by;         // the node that has no equal in the next set, as NAME (OPERATOR)
};

// Raises the default operator set to 13, or as far as every operator has an equal. Attributes become inputs
// where the newer set has them as inputs (Clip, Pad, Squeeze, …); Upsample, Resize, Scatter and softmax over
// several axes are rewritten. Does nothing below operator set 9. `ranks` adds to what the file declares.
RaisedOpset raise_opset(proto::ModelProto& model, const Ranks& ranks = {});

// Values whose rank decides whether a softmax keeps its form in set 13, and which the file does not declare.
// With an unknown rank the softmax is flattened, which costs three operators.
std::set<std::string> undeclared_ranks(const proto::ModelProto& model);

}  // namespace paceline::onnx
