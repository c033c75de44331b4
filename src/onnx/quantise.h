// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "onnx/calibration.h"
#include "onnx/integer_tensor.h"
#include "onnx/placement.h"
#include "onnx/proto.h"
#include "onnx/raise_opset.h"

// Quantises after training: turns a float model and the ranges of its activations into a model with
// QuantizeLinear/DequantizeLinear pairs, from which engines make integer operators.
namespace paceline::onnx {

struct QuantiseOptions {
  PlacementOptions placement{};
  // kUnsigned with int32 bias for ONNX Runtime and OpenVINO, kSigned with float bias for TensorRT: none runs
  // the other's file in 8 bits (docs/engines.md, "Quantisation").
  Activations activations = Activations::kUnsigned;
  // CPUs without VNNI add two u8·s8 products in 16 bits and saturate; 7-bit weights avoid that.
  bool reduce_range = false;
  Ranks ranks{};  // of the values that layers read, for the form of matrix products
};

struct QuantiseReport {
  std::vector<QuantisedLayer> layers;
  std::vector<FloatLayer> float_layers;
  int weight_bits = 8;
  bool per_channel = true;  // scales of the weights; from operator set 13 on
  std::string activations;  // uint8 | int8
  std::string bias;         // int32 | float32
};

// Rewrites the model in place and drops the float weights. Weights have one scale per channel from operator
// set 13 on, and one per tensor before. Throws what place() throws, and Error(kData) naming a layer whose
// input has no range.
QuantiseReport quantise(proto::ModelProto& model, const Ranges& ranges, const QuantiseOptions& options);

}  // namespace paceline::onnx
