// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/proto.h"

// Where a graph changes to 8 bits. ONNX Runtime and OpenVINO recognise an integer operator by the
// quantisation around it, so what is placed where decides what executes (docs/engines.md, "Quantisation").
namespace paceline::onnx {

struct PlacementOptions {
  // Layers that stay in float: names with * and ?, and the words `first` and `last`.
  std::vector<std::string> exclude{};
  // Products of two activations (attention). Off: softmax crowds its probabilities near 0, where 255 even
  // steps lose most of them, and these products are a few per cent of a transformer's work.
  bool activation_products = false;
};

// A convolution or matrix product that will run on 8-bit numbers.
struct QuantisedLayer {
  int node = 0;  // index in the graph
  std::string name, op;
  int weight_input = 1;  // index of the constant operand; -1: both are activations
  int weight_axis = 0;   // of output channels
};

struct FloatLayer {
  std::string name, op, reason;
};

struct Placement {
  std::vector<QuantisedLayer> layers;
  std::vector<FloatLayer> float_layers;  // convolutions and matrix products left alone
  // Values that are quantised, and the value whose range each takes: its own, or for operators that only
  // move or choose values (MaxPool, Reshape, …) that of their input.
  std::map<std::string, std::string> range_of;
  std::map<int, std::set<std::string>> reads;  // node -> quantised values it reads

  // Their names. What a placement with more exclusions quantises is among them.
  [[nodiscard]] std::set<std::string> values() const;
};

// Leaves the model as it is. Throws Error(kUnsupported): already quantised, operator set below 10, nothing to
// quantise (with why); Error(kConfig): an exclusion that fits no layer.
Placement place(proto::ModelProto& model, const PlacementOptions& options);

// Whether it holds quantised operators, as files of other quantisers do.
bool is_quantised(const proto::ModelProto& model);

// Whole-name match; * stands for any text, ? for one character.
bool matches_glob(std::string_view name, std::string_view pattern);

}  // namespace paceline::onnx
