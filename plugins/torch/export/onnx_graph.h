// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "onnx/proto.h"

namespace paceline::torch_plugin {

using Names = std::vector<std::string>;

// An ONNX graph while a TorchScript graph is translated into it: the names of values, and which tensors are
// stored already. Rules (onnx_rules.h) add nodes through it.
class OnnxGraph {
 public:
  OnnxGraph(onnx::proto::GraphProto& graph, const torch::jit::Module& module, std::int64_t opset);

  // --- reading the TorchScript side ---
  using Value = torch::jit::Value;
  using Node = torch::jit::Node;
  static Shape shape(const Value* value);  // in the traced run; Error(kUnsupported) when it was not recorded
  static std::int64_t rank(const Value* value) { return static_cast<std::int64_t>(shape(value).size()); }
  static c10::IValue constant(const Value* value);  // Error(kUnsupported) for a value that the model computes
  static std::int64_t integer(const Value* value) { return constant(value).toInt(); }
  static std::vector<std::int64_t> integers(const Value* value);
  static bool is_none(const Value* value);
  // A parameter or constant of the model; none for computed values.
  [[nodiscard]] std::optional<at::Tensor> weight(const Value* value) const;

  // --- naming ---
  void set_attribute_path(const Value* value, const std::string& path) { paths_[value] = path; }
  void set_name(const Value* value, const std::string& name) { names_[value] = name; }
  // The ONNX name of a value; its tensor is stored on first use.
  std::string name(const Value* value);
  // Stores the transposed matrix, or transposes it in the graph where it is already stored for another use.
  std::string transposed_name(const Value* weight);
  std::string store(const std::string& name, const at::Tensor& tensor);
  std::string store(const std::vector<std::int64_t>& values);  // a small constant, such as axes or a shape

  // --- writing nodes ---
  // Nodes carry the name of the layer whose parameters the TorchScript node reads.
  void begin(const Node* node);
  onnx::proto::NodeProto& add(const std::string& op, const Names& inputs);  // its output gets a new name
  onnx::proto::NodeProto& add(const std::string& op, const Names& inputs, const Value* output);
  std::string output_of(const onnx::proto::NodeProto& node) { return node.output(0); }
  [[nodiscard]] std::int64_t opset() const { return opset_; }
  void require_opset(std::int64_t version, const std::string& op) const;
  [[noreturn]] void unsupported(const std::string& why) const;

 private:
  std::string fresh(const std::string& base);

  onnx::proto::GraphProto& graph_;
  const torch::jit::Module& module_;
  std::int64_t opset_;
  const Node* node_ = nullptr;
  std::string layer_;
  std::map<const Value*, std::string> names_, paths_;
  std::map<std::string, int> used_;  // how often each name was asked for
  std::map<std::string, bool> stored_;
};

}  // namespace paceline::torch_plugin
