// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "onnx/graph.h"

namespace paceline::onnx {

using Names = std::vector<std::string>;
using Floats = std::vector<float>;

// Small models for tests: operator set 17, nodes in order, weights made up.
class ModelBuilder {
 public:
  explicit ModelBuilder(std::int64_t opset = 17) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
  }
  ModelBuilder& input(const std::string& name, const Shape& shape, DType dtype = DType::kFloat32) {
    *graph().add_input() = make_value_info({name, dtype, shape});
    return *this;
  }
  ModelBuilder& output(const std::string& name, const Shape& shape = {-1}) {
    *graph().add_output() = make_value_info({name, DType::kFloat32, shape});
    return *this;
  }
  ModelBuilder& weights(const std::string& name, const Shape& shape, const Floats& values) {
    *graph().add_initializer() = make_tensor(name, shape, values);
    return *this;
  }
  ModelBuilder& weights(const std::string& name, const Shape& shape) {
    Floats values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
    return weights(name, shape, values);
  }
  // Named after its output.
  ModelBuilder& node(const std::string& op, const Names& inputs, const std::string& output) {
    add_node(graph(), op, output, inputs, Names{output});
    return *this;
  }
  // A 1x1 convolution of `channels` with weights <output>.w.
  ModelBuilder& conv(const std::string& from, const std::string& output, std::int64_t channels = 2) {
    return weights(output + ".w", Shape{channels, channels, 1, 1})
        .weights(output + ".b", Shape{channels})
        .node("Conv", {from, output + ".w", output + ".b"}, output);
  }
  proto::NodeProto& last() { return *graph().mutable_node()->rbegin(); }
  proto::GraphProto& graph() { return *model_.mutable_graph(); }
  proto::ModelProto& model() { return model_; }

 private:
  proto::ModelProto model_;
};

inline const proto::TensorProto* find_tensor(const proto::ModelProto& model, const std::string& name) {
  for (const auto& tensor : model.graph().initializer())
    if (tensor.name() == name) return &tensor;
  return nullptr;
}

inline const proto::NodeProto* find_node(const proto::ModelProto& model, const std::string& output) {
  for (const auto& node : model.graph().node())
    if (node.output_size() > 0 && node.output(0) == output) return &node;
  return nullptr;
}

inline int count_op(const proto::ModelProto& model, const std::string& op) {
  int count = 0;
  for (const auto& node : model.graph().node()) count += node.op_type() == op ? 1 : 0;
  return count;
}

}  // namespace paceline::onnx
