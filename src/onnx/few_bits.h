// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "onnx/proto.h"

// Products with weights of few bits (MatMulNBits of ONNX Runtime), whose accuracy level is the type in which
// they may compute: 4 rounds activations to 8 bits.
namespace paceline::onnx {

inline constexpr const char* kFewBits = "MatMulNBits";
inline constexpr std::int64_t kRoundingLevel = 4, kFloatLevel = 1;

// Their levels by the node's name, in subgraphs and functions too.
std::map<std::string, std::int64_t> few_bits_levels(proto::ModelProto& model);
// Lets all of them compute in float. Whether the model has changed.
bool set_float_levels(proto::ModelProto& model);

}  // namespace paceline::onnx
