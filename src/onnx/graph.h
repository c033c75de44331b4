// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "onnx/proto.h"

// Reads and builds graphs without exposing protobuf.
namespace paceline::onnx {

// Which node makes a value and which nodes read it, in the graphs inside them, too. Holds pointers into the
// graph, valid until nodes or initializers are added or removed.
class GraphIndex {
 public:
  explicit GraphIndex(proto::GraphProto& graph);
  [[nodiscard]] proto::NodeProto* producer(const std::string& value) const;  // null: an input or initializer
  [[nodiscard]] const std::vector<proto::NodeProto*>& consumers(const std::string& value) const;
  [[nodiscard]] proto::TensorProto* initializer(const std::string& value) const;
  [[nodiscard]] bool is_output(const std::string& value) const;  // of the graph

 private:
  std::map<std::string, proto::NodeProto*> producers_;
  std::map<std::string, std::vector<proto::NodeProto*>> consumers_;
  std::map<std::string, proto::TensorProto*> initializers_;
  std::map<std::string, bool> outputs_;
};

// The name of a node for users: its own, or its first output where it has none.
std::string layer_name(const proto::NodeProto& node);
// Whether an operator is from the ONNX standard.
bool is_standard(const proto::NodeProto& node);

// The values from outside that the graphs inside a node (branches, bodies of loops) read.
std::set<std::string> captured_values(const proto::NodeProto& node);

const proto::AttributeProto* find_attribute(const proto::NodeProto& node, const std::string& name);
std::int64_t int_attribute(const proto::NodeProto& node, const std::string& name, std::int64_t fallback);
std::vector<std::int64_t> ints_attribute(const proto::NodeProto& node, const std::string& name);
void set_attribute(proto::NodeProto& node, const std::string& name, std::int64_t value);
void set_attribute(proto::NodeProto& node, const std::string& name, float value);
void set_attribute(proto::NodeProto& node, const std::string& name, std::span<const std::int64_t> values);

// Appends a node with one output of the node's name unless `outputs` says otherwise.
proto::NodeProto& add_node(proto::GraphProto& graph, const std::string& op, const std::string& name,
                           std::span<const std::string> inputs, std::span<const std::string> outputs);

std::int32_t onnx_type(DType dtype);                    // TensorProto::DataType
std::optional<DType> dtype_of(std::int32_t onnx_type);  // empty: a type without a name here (string, …)

// Bytes are little-endian, as in the format and on every machine that this tool runs on.
proto::TensorProto make_tensor(const std::string& name, DType dtype, const Shape& shape, const void* data);
proto::TensorProto make_tensor(const std::string& name, const Shape& shape, std::span<const float> values);
proto::TensorProto make_tensor(const std::string& name, const Shape& shape,
                               std::span<const std::int64_t> values);

Shape shape_of(const proto::TensorProto& tensor);
// Values of a float32, float16 or float64 tensor, however stored. Throws Error(kData) for other types.
std::vector<float> floats_of(const proto::TensorProto& tensor);
std::vector<double> doubles_of(const proto::TensorProto& tensor);     // float64 alone
std::vector<std::int64_t> ints_of(const proto::TensorProto& tensor);  // int64 and int32

// Throws Error(kUnsupported) for an input whose serialised TypeProto is that of no tensor.
void require_tensor(std::string_view name, std::string_view type);
// A graph input or output. A dimension below 0 becomes the symbol "N".
proto::ValueInfoProto make_value_info(const TensorSpec& spec);
// Inputs that are not initializers; unknown dimensions are -1. Throws Error(kData) for a type without a name,
// Error(kUnsupported) for an input that is no tensor.
std::vector<TensorSpec> graph_inputs(const proto::GraphProto& graph);

// The version of the default operator set; 0: none is named.
std::int64_t opset_version(const proto::ModelProto& model);

}  // namespace paceline::onnx
