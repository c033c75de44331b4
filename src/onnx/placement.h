// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/proto.h"

// Decides where a graph changes to 8 bits. ONNX Runtime and OpenVINO recognise an integer operator by the
// quantisation around it, so the placement determines what executes (docs/engines.md, "Quantisation").
namespace paceline::onnx {

struct PlacementOptions {
  // Layers that stay in float: names with * and ?, and the words `first` and `last`.
  std::vector<std::string> exclude{};
};

// A convolution or matrix product that will run on 8-bit numbers.
struct QuantisedLayer {
  int node = 0;  // index in the graph
  std::string name, op;
  int weight_axis = 0;  // of output channels
};

struct FloatLayer {
  std::string name, op, reason;
  bool excluded = false;  // by the options, and by nothing else
};

struct Placement {
  std::vector<QuantisedLayer> layers;
  // Convolutions and matrix products that stay in float, with those in branches, loops and functions.
  std::vector<FloatLayer> float_layers;
  // For each quantised value, the value whose range it takes: its own, or for operators that only move or
  // select values (MaxPool, Reshape, …) that of their input.
  std::map<std::string, std::string> range_of;
  std::map<int, std::set<std::string>> reads;  // per node the quantised values that it reads

  // The names of quantised values. With more exclusions the set only becomes smaller.
  [[nodiscard]] std::set<std::string> values() const;
};

// Does not change the model. Throws Error(kUnsupported) when it is already quantised, has an operator set
// below 10, or offers nothing to quantise (with the reason); Error(kConfig) for an exclusion that matches no
// layer.
Placement place(proto::ModelProto& model, const PlacementOptions& options);

// Whether the model has quantised operators, also those of other quantisers.
bool is_quantised(const proto::ModelProto& model);

// Whether the file has float products, which int8 is for; false for a file that cannot be read.
bool can_be_quantised(const std::string& file);

// Matches whole names; * matches any text, ? for one character.
bool matches_glob(std::string_view name, std::string_view pattern);

}  // namespace paceline::onnx
