// SPDX-License-Identifier: MIT
#include "onnx/products.h"

#include <algorithm>
#include <optional>
#include <set>

#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

using Names = std::vector<std::string>;

float float_attribute(const proto::NodeProto& node, const char* name, float fallback) {
  const auto* attribute = find_attribute(node, name);
  return attribute ? attribute->f() : fallback;
}

std::vector<float> times(std::vector<float> values, float factor) {
  for (auto& value : values) value *= factor;
  return values;
}

class Settler {
 public:
  Settler(proto::GraphProto& graph, const Ranks& ranks) : graph_(graph), ranks_(ranks), index_(graph) {}

  void run(const std::set<int>& products) {
    for (int n = 0; n < graph_.node_size(); ++n) {
      auto& node = *graph_.mutable_node(n);
      if (products.contains(n)) node.op_type() == "Gemm" ? settle_gemm(node) : settle_matmul(node);
      if (absorbed_.contains(&node)) continue;
      nodes_.add_node()->Swap(&node);
      if (addition_) nodes_.add_node()->Swap(&*addition_);
      addition_.reset();
    }
    graph_.mutable_node()->Swap(nodes_.mutable_node());
  }

 private:
  void settle_matmul(proto::NodeProto& node);
  void settle_gemm(proto::NodeProto& node);
  void keep_apart(proto::NodeProto& add, const std::string& bias);
  void fold_alpha(proto::NodeProto& node);
  void add_apart(proto::NodeProto& node, const std::string& addend, float beta);
  void set_bias(proto::NodeProto& node, const std::vector<float>& values) {
    set_constant(node, 2, Shape{static_cast<std::int64_t>(values.size())}, values);
  }
  [[nodiscard]] std::size_t columns(const proto::NodeProto& node) const;
  [[nodiscard]] std::optional<std::vector<float>> row(const std::string& value, std::size_t columns) const;
  proto::NodeProto* sole_addition(const std::string& value) const;
  void set_constant(proto::NodeProto& node, int input, const Shape& shape, const std::vector<float>& values) {
    const std::string name = node.output(0) + (input == 1 ? "/weights" : "/bias");
    *graph_.add_initializer() = make_tensor(name, shape, values);
    while (node.input_size() <= input) node.add_input("");
    node.set_input(input, name);
  }

  proto::GraphProto& graph_;
  const Ranks& ranks_;
  GraphIndex index_;
  std::set<const proto::NodeProto*> absorbed_;
  std::optional<proto::NodeProto> addition_;  // to stand after the node in hand
  proto::GraphProto nodes_;
};

// The addition that is the only reader of a value.
proto::NodeProto* Settler::sole_addition(const std::string& value) const {
  const auto& readers = index_.consumers(value);
  if (index_.is_output(value) || readers.size() != 1) return nullptr;
  auto* add = readers.front();
  return add->op_type() == "Add" && is_standard(*add) ? add : nullptr;
}

std::size_t Settler::columns(const proto::NodeProto& node) const {
  const auto& weights = *index_.initializer(node.input(1));
  const bool transposed = node.op_type() == "Gemm" && int_attribute(node, "transB", 0) != 0;
  return static_cast<std::size_t>(weights.dims(transposed ? 0 : 1));
}

// A constant that adds the same number to every element of a column.
std::optional<std::vector<float>> Settler::row(const std::string& value, std::size_t columns) const {
  const auto* tensor = index_.initializer(value);
  if (!tensor || tensor->data_type() != proto::TensorProto::FLOAT || tensor->dims_size() > 2)
    return std::nullopt;
  auto values = floats_of(*tensor);
  if (values.size() == 1) return std::vector<float>(columns, values.front());
  const bool fits = values.size() == columns && tensor->dims(tensor->dims_size() - 1) != 1;
  return fits ? std::optional(std::move(values)) : std::nullopt;
}

void Settler::settle_matmul(proto::NodeProto& node) {
  auto* add = sole_addition(node.output(0));
  const auto rank = ranks_.find(node.input(0));
  if (!add || rank == ranks_.end() || rank->second < 2) return;
  const auto& other = add->input(add->input(0) == node.output(0) ? 1 : 0);
  if (rank->second > 2) return keep_apart(*add, other);
  node.set_name(layer_name(node));
  node.set_op_type("Gemm");
  const auto bias = row(other, columns(node));
  set_bias(node, bias.value_or(std::vector<float>(columns(node))));
  if (!bias) return;
  node.set_output(0, add->output(0));
  absorbed_.insert(add);
}

void Settler::keep_apart(proto::NodeProto& add, const std::string& bias) {
  const auto* tensor = index_.initializer(bias);
  if (!tensor || tensor->data_type() != proto::TensorProto::FLOAT || tensor->dims_size() != 1) return;
  const std::string name = add.output(0) + "/bias";
  *graph_.add_initializer() = make_tensor(name, Shape{1, tensor->dims(0)}, floats_of(*tensor));
  for (auto& input : *add.mutable_input())
    if (input == bias) input = name;
}

void Settler::settle_gemm(proto::NodeProto& node) {
  const auto count = columns(node);
  const std::string addend = node.input_size() > 2 ? node.input(2) : "";
  const float beta = float_attribute(node, "beta", 1);
  const auto* given = index_.initializer(addend);
  const auto bias = row(addend, count);
  node.set_name(layer_name(node));
  fold_alpha(node);
  if (bias && beta == 1 && given->dims_size() == 1 && given->dims(0) == static_cast<std::int64_t>(count))
    return;
  set_bias(node, bias ? times(*bias, beta) : std::vector<float>(count));
  set_attribute(node, "beta", 1.0F);
  if (!bias && !addend.empty()) add_apart(node, addend, beta);
}

void Settler::fold_alpha(proto::NodeProto& node) {
  const float alpha = float_attribute(node, "alpha", 1);
  if (alpha == 1) return;
  const auto& weights = *index_.initializer(node.input(1));
  set_constant(node, 1, shape_of(weights), times(floats_of(weights), alpha));
  set_attribute(node, "alpha", 1.0F);
}

void Settler::add_apart(proto::NodeProto& node, const std::string& addend, float beta) {
  const std::string output = node.output(0), product = output + "/product";
  node.set_output(0, product);
  proto::GraphProto holder;
  addition_ = add_node(holder, "Add", output + "/add", Names{product, addend}, Names{output});
  if (beta == 1) return;
  const std::string factor = output + "/beta", scaled = output + "/scaled";
  *graph_.add_initializer() = make_tensor(factor, Shape{}, std::span<const float>(&beta, 1));
  add_node(nodes_, "Mul", scaled, Names{addend, factor}, Names{scaled});
  addition_->set_input(1, scaled);
}

}  // namespace

void settle_products(proto::ModelProto& model, const Placement& placement, const Ranks& ranks) {
  std::set<int> products;
  for (const auto& layer : placement.layers) products.insert(layer.node);
  Settler(*model.mutable_graph(), ranks).run(products);
}

}  // namespace paceline::onnx
