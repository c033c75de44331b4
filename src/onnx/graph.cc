// SPDX-License-Identifier: MIT
#include "onnx/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <set>

#include "base/display_text.h"
#include "base/error.h"
#include "base/half.h"
#include "onnx/wire.h"

namespace paceline::onnx {
namespace {

struct TypeRow {
  DType dtype;
  proto::TensorProto::DataType onnx;
};
constexpr TypeRow kTypes[] = {
    {DType::kFloat32, proto::TensorProto::FLOAT},     {DType::kFloat16, proto::TensorProto::FLOAT16},
    {DType::kBFloat16, proto::TensorProto::BFLOAT16}, {DType::kFloat64, proto::TensorProto::DOUBLE},
    {DType::kInt8, proto::TensorProto::INT8},         {DType::kUInt8, proto::TensorProto::UINT8},
    {DType::kInt32, proto::TensorProto::INT32},       {DType::kInt64, proto::TensorProto::INT64},
    {DType::kBool, proto::TensorProto::BOOL},         {DType::kInt16, proto::TensorProto::INT16},
    {DType::kUInt16, proto::TensorProto::UINT16},     {DType::kUInt32, proto::TensorProto::UINT32},
    {DType::kUInt64, proto::TensorProto::UINT64},
};

proto::AttributeProto& fresh_attribute(proto::NodeProto& node, const std::string& name,
                                       proto::AttributeProto::AttributeType type) {
  for (auto& attribute : *node.mutable_attribute())
    if (attribute.name() == name) {
      attribute.Clear();
      attribute.set_name(name);
      attribute.set_type(type);
      return attribute;
    }
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

template <typename T>
std::vector<T> raw_values(const proto::TensorProto& tensor) {
  std::vector<T> values(tensor.raw_data().size() / sizeof(T));
  std::memcpy(values.data(), tensor.raw_data().data(), values.size() * sizeof(T));
  return values;
}

std::vector<float> halves_to_floats(const proto::TensorProto& tensor) {
  std::vector<std::uint16_t> bits;
  if (tensor.has_raw_data())
    bits = raw_values<std::uint16_t>(tensor);
  else
    for (const auto word : tensor.int32_data()) bits.push_back(static_cast<std::uint16_t>(word));
  std::vector<float> values(bits.size());
  std::transform(bits.begin(), bits.end(), values.begin(), half_to_float);
  return values;
}

template <typename T, typename Stored, typename Result>
std::vector<Result> values_as(const proto::TensorProto& tensor, const Stored& stored) {
  if (!tensor.has_raw_data()) return {stored.begin(), stored.end()};
  const auto raw = raw_values<T>(tensor);
  return {raw.begin(), raw.end()};
}

[[noreturn]] void wrong_type(const proto::TensorProto& tensor, const char* wanted) {
  throw Error(ErrorCode::kData, fmt::format("tensor '{}' has ONNX type {}, {} wanted", tensor.name(),
                                            tensor.data_type(), wanted));
}

}  // namespace

GraphIndex::GraphIndex(proto::GraphProto& graph) {
  for (auto& tensor : *graph.mutable_initializer()) initializers_[tensor.name()] = &tensor;
  for (auto& node : *graph.mutable_node()) {
    for (const auto& output : node.output()) producers_[output] = &node;
    for (const auto& input : node.input())
      if (!input.empty()) consumers_[input].push_back(&node);
    for (const auto& value : captured_values(node)) consumers_[value].push_back(&node);
  }
  for (const auto& output : graph.output()) outputs_[output.name()] = true;
}

proto::NodeProto* GraphIndex::producer(const std::string& value) const {
  const auto it = producers_.find(value);
  return it == producers_.end() ? nullptr : it->second;
}

const std::vector<proto::NodeProto*>& GraphIndex::consumers(const std::string& value) const {
  static const std::vector<proto::NodeProto*> kNone;
  const auto it = consumers_.find(value);
  return it == consumers_.end() ? kNone : it->second;
}

proto::TensorProto* GraphIndex::initializer(const std::string& value) const {
  const auto it = initializers_.find(value);
  return it == initializers_.end() ? nullptr : it->second;
}

bool GraphIndex::is_output(const std::string& value) const {
  return outputs_.contains(value);
}

std::string layer_name(const proto::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 ? node.output(0) : node.op_type();
}

bool is_standard(const proto::NodeProto& node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

namespace {

// Adds what a graph reads and neither makes nor gets, itself or in graphs inside it.
void add_captured(const proto::GraphProto& graph, std::set<std::string>& captured) {
  std::set<std::string> made, read;
  for (const auto& input : graph.input()) made.insert(input.name());
  for (const auto& tensor : graph.initializer()) made.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) made.insert(sparse.values().name());
  for (const auto& node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
    read.merge(captured_values(node));
    made.insert(node.output().begin(), node.output().end());
  }
  for (const auto& output : graph.output()) read.insert(output.name());
  std::set_difference(read.begin(), read.end(), made.begin(), made.end(),
                      std::inserter(captured, captured.end()));
}

}  // namespace

std::set<std::string> captured_values(const proto::NodeProto& node) {
  std::set<std::string> captured;
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) add_captured(attribute.g(), captured);
    for (const auto& graph : attribute.graphs()) add_captured(graph, captured);
  }
  captured.erase("");
  return captured;
}

const proto::AttributeProto* find_attribute(const proto::NodeProto& node, const std::string& name) {
  const auto& all = node.attribute();
  const auto it = std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.name() == name; });
  return it == all.end() ? nullptr : &*it;
}

std::int64_t int_attribute(const proto::NodeProto& node, const std::string& name, std::int64_t fallback) {
  const auto* attribute = find_attribute(node, name);
  return attribute ? attribute->i() : fallback;
}

std::vector<std::int64_t> ints_attribute(const proto::NodeProto& node, const std::string& name) {
  const auto* attribute = find_attribute(node, name);
  return attribute ? std::vector<std::int64_t>(attribute->ints().begin(), attribute->ints().end())
                   : std::vector<std::int64_t>{};
}

void set_attribute(proto::NodeProto& node, const std::string& name, std::int64_t value) {
  fresh_attribute(node, name, proto::AttributeProto::INT).set_i(value);
}
void set_attribute(proto::NodeProto& node, const std::string& name, float value) {
  fresh_attribute(node, name, proto::AttributeProto::FLOAT).set_f(value);
}
void set_attribute(proto::NodeProto& node, const std::string& name, std::span<const std::int64_t> values) {
  auto& attribute = fresh_attribute(node, name, proto::AttributeProto::INTS);
  for (const auto value : values) attribute.add_ints(value);
}

proto::NodeProto& add_node(proto::GraphProto& graph, const std::string& op, const std::string& name,
                           std::span<const std::string> inputs, std::span<const std::string> outputs) {
  auto& node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const auto& input : inputs) node.add_input(input);
  for (const auto& output : outputs) node.add_output(output);
  return node;
}

std::int32_t onnx_type(DType dtype) {
  return std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& r) { return r.dtype == dtype; })
      ->onnx;
}

std::optional<DType> dtype_of(std::int32_t type) {
  for (const auto& row : kTypes)
    if (row.onnx == type) return row.dtype;
  return std::nullopt;
}

proto::TensorProto make_tensor(const std::string& name, DType dtype, const Shape& shape, const void* data) {
  proto::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx_type(dtype));
  for (const auto extent : shape) tensor.add_dims(extent);
  tensor.set_raw_data(data, static_cast<std::size_t>(element_count(shape)) * dtype_size_bytes(dtype));
  return tensor;
}

proto::TensorProto make_tensor(const std::string& name, const Shape& shape, std::span<const float> values) {
  return make_tensor(name, DType::kFloat32, shape, values.data());
}

proto::TensorProto make_tensor(const std::string& name, const Shape& shape,
                               std::span<const std::int64_t> values) {
  return make_tensor(name, DType::kInt64, shape, values.data());
}

Shape shape_of(const proto::TensorProto& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

std::vector<float> floats_of(const proto::TensorProto& tensor) {
  switch (tensor.data_type()) {
    case proto::TensorProto::FLOAT:
      return values_as<float, decltype(tensor.float_data()), float>(tensor, tensor.float_data());
    case proto::TensorProto::FLOAT16:
      return halves_to_floats(tensor);
    case proto::TensorProto::DOUBLE: {
      const auto wide = doubles_of(tensor);
      return {wide.begin(), wide.end()};
    }
    default:
      wrong_type(tensor, "a floating-point type");
  }
}

std::vector<double> doubles_of(const proto::TensorProto& tensor) {
  if (tensor.data_type() != proto::TensorProto::DOUBLE) wrong_type(tensor, "float64");
  return values_as<double, decltype(tensor.double_data()), double>(tensor, tensor.double_data());
}

std::vector<std::int64_t> ints_of(const proto::TensorProto& tensor) {
  switch (tensor.data_type()) {
    case proto::TensorProto::INT64:
      return values_as<std::int64_t, decltype(tensor.int64_data()), std::int64_t>(tensor,
                                                                                  tensor.int64_data());
    case proto::TensorProto::INT32:
      return values_as<std::int32_t, decltype(tensor.int32_data()), std::int64_t>(tensor,
                                                                                  tensor.int32_data());
    default:
      wrong_type(tensor, "int64 or int32");
  }
}

namespace {

// Values other than tensors, by their field of TypeProto.
struct Kind {
  std::uint64_t field;
  std::string_view words;
};
constexpr std::array kKinds{Kind{4, "a sequence of tensors"}, Kind{5, "a map"}, Kind{8, "a sparse tensor"},
                            Kind{9, "an optional value"}};

}  // namespace

void require_tensor(std::string_view name, std::string_view type) {
  for (const auto& kind : kKinds)
    if (wire::first(type, kind.field))
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("input '{}' is {}, which is not supported: inputs must be tensors; export "
                              "the model with tensors as inputs",
                              shown_value(std::string(name)), kind.words));
}

proto::ValueInfoProto make_value_info(const TensorSpec& spec) {
  proto::ValueInfoProto info;
  info.set_name(spec.name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_type(spec.dtype));
  auto& shape = *type.mutable_shape();
  for (const auto extent : spec.shape) {
    if (extent < 0)
      shape.add_dim()->set_dim_param("N");
    else
      shape.add_dim()->set_dim_value(extent);
  }
  return info;
}

std::vector<TensorSpec> graph_inputs(const proto::GraphProto& graph) {
  std::set<std::string> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  std::vector<TensorSpec> specs;
  for (const auto& input : graph.input()) {
    if (initializers.contains(input.name())) continue;
    require_tensor(input.name(), input.type().SerializeAsString());
    const auto& type = input.type().tensor_type();
    const auto dtype = dtype_of(type.elem_type());
    if (!dtype)
      throw Error(ErrorCode::kData, fmt::format("input '{}' has ONNX type {}, which Paceline cannot make",
                                                input.name(), type.elem_type()));
    TensorSpec spec{input.name(), *dtype, {}};
    for (const auto& dim : type.shape().dim())
      spec.shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::int64_t opset_version(const proto::ModelProto& model) {
  for (const auto& set : model.opset_import())
    if (set.domain().empty() || set.domain() == "ai.onnx") return set.version();
  return 0;
}

}  // namespace paceline::onnx
