// SPDX-License-Identifier: MIT
#include "onnx/half_cast.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/half.h"
#include "onnx/graph.h"
#include "onnx/inline_functions.h"
#include "onnx/simplify.h"

namespace paceline::onnx {
namespace {

using Names = std::vector<std::string>;
constexpr float kLargestHalf = 65504;

// Operators that keep float32, and why.
constexpr std::array<std::string_view, 40> kIslands{
    // wide range of results, or sums of many values: rounding or overflow shows
    "Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization", "GroupNormalization",
    "InstanceNormalization", "BatchNormalization", "LpNormalization", "MeanVarianceNormalization", "LRN",
    "ReduceSum", "ReduceMean", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
    "ReduceProd", "CumSum", "Exp", "Log", "Pow", "Sqrt", "Reciprocal", "Softplus", "SoftmaxCrossEntropyLoss",
    // they take some inputs in float32 only, or have no inputs
    "Resize", "Upsample", "Range", "NonMaxSuppression", "RoiAlign", "GridSample", "RandomNormal",
    "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "QuantizeLinear",
    "DequantizeLinear", "DynamicQuantizeLinear"};
constexpr std::array<std::string_view, 3> kControlFlow{"If", "Loop", "Scan"};
constexpr std::array<std::string_view, 5> kTakeAny{"Shape", "Size", "Cast", "IsNaN", "IsInf"};

// Sequences of tensors; engines have no float16 form of all of them.
constexpr std::array<std::string_view, 2> kMakeSequence{"SequenceConstruct", "SplitToSequence"};
constexpr std::array<std::string_view, 2> kOpenSequence{"SequenceAt", "ConcatFromSequence"};

// Operators whose outputs differ in type from their first input.
struct OutputType {
  std::string_view op;
  int output;         // -1: all
  std::int32_t type;  // below 0: a sequence of that type
};
constexpr std::array kOutputTypes{
    OutputType{"Shape", -1, proto::TensorProto::INT64},
    OutputType{"Size", -1, proto::TensorProto::INT64},
    OutputType{"ArgMax", -1, proto::TensorProto::INT64},
    OutputType{"ArgMin", -1, proto::TensorProto::INT64},
    OutputType{"NonZero", -1, proto::TensorProto::INT64},
    OutputType{"TopK", 1, proto::TensorProto::INT64},
    OutputType{"MaxPool", 1, proto::TensorProto::INT64},
    OutputType{"Dropout", 1, proto::TensorProto::BOOL},
    OutputType{"Equal", -1, proto::TensorProto::BOOL},
    OutputType{"Greater", -1, proto::TensorProto::BOOL},
    OutputType{"GreaterOrEqual", -1, proto::TensorProto::BOOL},
    OutputType{"Less", -1, proto::TensorProto::BOOL},
    OutputType{"LessOrEqual", -1, proto::TensorProto::BOOL},
    OutputType{"IsNaN", -1, proto::TensorProto::BOOL},
    OutputType{"IsInf", -1, proto::TensorProto::BOOL},
    OutputType{"NonMaxSuppression", -1, proto::TensorProto::INT64},
    OutputType{"QuantizeLinear", -1, proto::TensorProto::UINT8},
    OutputType{"DynamicQuantizeLinear", 0, proto::TensorProto::UINT8},
    OutputType{"DynamicQuantizeLinear", 2, proto::TensorProto::UINT8},
    OutputType{"MatMulInteger", -1, proto::TensorProto::INT32},
    OutputType{"ConvInteger", -1, proto::TensorProto::INT32},
    OutputType{"SequenceLength", -1, proto::TensorProto::INT64},
    OutputType{"Unique", 1, proto::TensorProto::INT64},
    OutputType{"Unique", 2, proto::TensorProto::INT64},
    OutputType{"Unique", 3, proto::TensorProto::INT64},
    OutputType{"Multinomial", -1, proto::TensorProto::INT32},
    OutputType{"RandomNormal", -1, proto::TensorProto::FLOAT},
    OutputType{"RandomUniform", -1, proto::TensorProto::FLOAT},
    OutputType{"SequenceEmpty", -1, -proto::TensorProto::FLOAT},
};

// Operators whose outputs have the type of another input than their first.
struct TypeGiver {
  std::string_view op;
  int input;
};
constexpr std::array kTypeGivers{
    TypeGiver{"Where", 1},
    TypeGiver{"OneHot", 2},
    TypeGiver{"DequantizeLinear", 1},
    TypeGiver{"CastLike", 1},
    TypeGiver{"MatMulIntegerToFloat", 2},
};

template <typename Table>
bool contains(const Table& table, std::string_view word) {
  return std::find(table.begin(), table.end(), word) != table.end();
}

// The type of its outputs that an operator names; null: none.
const proto::AttributeProto* named_type(const proto::NodeProto& node) {
  const auto* dtype = find_attribute(node, "dtype");
  return dtype ? dtype : find_attribute(node, "output_datatype");
}

std::optional<std::int32_t> typed_by_operator(const proto::NodeProto& node, int output) {
  const std::int32_t sign = node.op_type() == "SequenceEmpty" ? -1 : 1;
  if (const auto* named = named_type(node)) return sign * static_cast<std::int32_t>(named->i());
  for (const auto& row : kOutputTypes)
    if (row.op == node.op_type() && (row.output < 0 || row.output == output)) return row.type;
  if (node.op_type() == "Cast")
    return static_cast<std::int32_t>(int_attribute(node, "to", proto::TensorProto::FLOAT));
  if (node.op_type() != "ConstantOfShape") return std::nullopt;
  const auto* value = find_attribute(node, "value");
  return value ? value->t().data_type() : proto::TensorProto::FLOAT;
}

std::int32_t declared_type(const proto::TypeProto& type) {
  if (type.has_sequence_type()) return -type.sequence_type().elem_type().tensor_type().elem_type();
  return type.has_tensor_type() ? type.tensor_type().elem_type() : proto::TensorProto::UNDEFINED;
}

// Element types of all values, starting from the graph's inputs. That of a sequence is negative.
class Types {
 public:
  using ByName = std::map<std::string, std::int32_t>;
  explicit Types(const proto::GraphProto& graph, ByName outer = {}) : types_(std::move(outer)) {
    for (const auto* values : {&graph.input(), &graph.value_info(), &graph.output()})
      for (const auto& info : *values) know(info);
    for (const auto& tensor : graph.initializer()) types_[tensor.name()] = tensor.data_type();
    for (const auto& node : graph.node()) infer(node);
  }
  [[nodiscard]] bool is_float(const std::string& value) const {
    return type_of(value) == proto::TensorProto::FLOAT;
  }

 private:
  [[nodiscard]] std::int32_t type_of(const std::string& value) const {
    const auto it = types_.find(value);
    return it == types_.end() ? proto::TensorProto::UNDEFINED : it->second;
  }
  void know(const proto::ValueInfoProto& info) {
    if (const auto type = declared_type(info.type()); type != proto::TensorProto::UNDEFINED)
      types_[info.name()] = type;
  }
  void infer(const proto::NodeProto& node) {
    for (int o = 0; o < node.output_size(); ++o) {
      if (types_.contains(node.output(o))) continue;
      const auto type = made_by(node, o);
      if (type != proto::TensorProto::UNDEFINED) types_[node.output(o)] = type;
    }
  }
  [[nodiscard]] std::int32_t made_by(const proto::NodeProto& node, int output) const {
    if (contains(kControlFlow, node.op_type())) return made_by_graph(node, output);
    if (const auto type = typed_by_operator(node, output)) return *type;
    const auto given = type_of(type_giver(node));
    const bool sequence = contains(kMakeSequence, node.op_type()) || contains(kOpenSequence, node.op_type());
    return sequence ? -given : given;
  }
  // A loop's graph gives its condition first.
  [[nodiscard]] std::int32_t made_by_graph(const proto::NodeProto& node, int output) const {
    const auto inner = std::find_if(node.attribute().begin(), node.attribute().end(),
                                    [](const auto& attribute) { return attribute.has_g(); });
    const int place = output + (node.op_type() == "Loop" ? 1 : 0);
    if (inner == node.attribute().end() || place >= inner->g().output_size())
      return proto::TensorProto::UNDEFINED;
    const auto& value = inner->g().output(place);
    const auto declared = declared_type(value.type());
    return declared != proto::TensorProto::UNDEFINED ? declared
                                                     : Types(inner->g(), types_).type_of(value.name());
  }
  static std::string type_giver(const proto::NodeProto& node) {
    const auto row = std::find_if(kTypeGivers.begin(), kTypeGivers.end(),
                                  [&](const TypeGiver& giver) { return giver.op == node.op_type(); });
    const int input = row == kTypeGivers.end() ? 0 : row->input;
    return input < node.input_size() ? node.input(input) : "";
  }
  ByName types_;
};

bool keeps_float(const proto::NodeProto& node) {
  return !is_standard(node) || contains(kIslands, node.op_type()) || contains(kControlFlow, node.op_type()) ||
         named_type(node) || node.op_type().find("Sequence") != std::string::npos;
}

class HalfCaster {
 public:
  explicit HalfCaster(proto::ModelProto& model)
      : graph_(*model.mutable_graph()), types_(graph_), index_(graph_) {}

  HalfReport cast() {
    choose_islands();
    sort_values();
    for (int n = 0; n < graph_.node_size(); ++n) rewrite(n);
    graph_.mutable_node()->Swap(nodes_.mutable_node());
    convert_initializers();
    retype(*graph_.mutable_value_info());
    return std::move(report_);
  }

 private:
  void choose_islands();
  [[nodiscard]] bool between_islands(const proto::NodeProto& node) const;
  [[nodiscard]] bool has_float(const proto::NodeProto& node) const;
  void sort_values();
  void rewrite(int n);
  void retarget(proto::NodeProto& node) const;
  void rename_captured(proto::NodeProto& node, const std::map<std::string, std::string>& names) const;
  std::string as_type(const std::string& value, bool half);
  void add_cast(const std::string& from, const std::string& to, bool half);
  void convert_initializers();
  std::vector<std::uint16_t> halves_of(const proto::TensorProto& tensor);
  template <typename Infos>
  void retype(Infos& infos) const {
    for (auto& info : infos)
      if (half_.contains(info.name()))
        info.mutable_type()->mutable_tensor_type()->set_elem_type(proto::TensorProto::FLOAT16);
  }

  proto::GraphProto& graph_;
  Types types_;
  GraphIndex index_;
  std::set<const proto::NodeProto*> islands_;
  std::set<std::string> half_;          // values stored in float16, except initializers
  std::set<std::string> half_weights_;  // initializers read as float16
  std::set<std::string> renamed_;       // graph outputs that are made in float16
  std::set<std::string> cast_done_;
  proto::GraphProto nodes_;
  HalfReport report_;
};

bool HalfCaster::has_float(const proto::NodeProto& node) const {
  const auto is_float = [&](const auto& value) { return types_.is_float(value); };
  return std::any_of(node.input().begin(), node.input().end(), is_float) ||
         std::any_of(node.output().begin(), node.output().end(), is_float);
}

// An epsilon of 1e-12 is 0 in float16, so what lies between the sum and the root of a variance stays float32.
bool HalfCaster::between_islands(const proto::NodeProto& node) const {
  bool fed = false, read = false;
  for (const auto& input : node.input()) {
    if (!types_.is_float(input) || index_.initializer(input)) continue;
    if (!islands_.contains(index_.producer(input))) return false;
    fed = true;
  }
  for (const auto& output : node.output()) {
    if (index_.is_output(output)) return false;
    for (const auto* reader : index_.consumers(output)) {
      if (!islands_.contains(reader)) return false;
      read = true;
    }
  }
  return fed && read;
}

void HalfCaster::choose_islands() {
  for (const auto& node : graph_.node())
    if (keeps_float(node)) islands_.insert(&node);
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& node : graph_.node())
      if (!islands_.contains(&node) && between_islands(node)) grown = islands_.insert(&node).second || grown;
  }
}

void HalfCaster::sort_values() {
  for (const auto& node : graph_.node()) {
    if (!has_float(node)) continue;
    const bool island = islands_.contains(&node);
    if (contains(kControlFlow, node.op_type()))
      report_.control_flow.push_back(layer_name(node));
    else if (island)
      report_.islands.push_back(layer_name(node));
    else
      ++report_.half_nodes;
    for (const auto& output : node.output()) {
      if (!island && types_.is_float(output)) (index_.is_output(output) ? renamed_ : half_).insert(output);
    }
  }
}

// The name under which a float value can be read in the wanted type; adds a conversion where necessary.
std::string HalfCaster::as_type(const std::string& value, bool half) {
  if (index_.initializer(value)) {
    if (half) half_weights_.insert(value);
    return half ? value + "/half" : value;
  }
  if (renamed_.contains(value)) return half ? value + "/made" : value;
  if (half_.contains(value) == half) return value;
  const std::string name = value + (half ? "/half" : "/float");
  if (cast_done_.insert(name).second) add_cast(value, name, half);
  return name;
}

void HalfCaster::add_cast(const std::string& from, const std::string& to, bool half) {
  auto& cast = add_node(nodes_, "Cast", to + "/cast", Names{from}, Names{to});
  set_attribute(cast, "to", std::int64_t{half ? proto::TensorProto::FLOAT16 : proto::TensorProto::FLOAT});
}

// Changes the type that some operators name in an attribute.
void HalfCaster::retarget(proto::NodeProto& node) const {
  const bool names_float = int_attribute(node, "to", proto::TensorProto::FLOAT) == proto::TensorProto::FLOAT;
  if (node.op_type() == "Cast" && names_float)
    set_attribute(node, "to", std::int64_t{proto::TensorProto::FLOAT16});
  if (node.op_type() != "ConstantOfShape") return;
  const auto* value = find_attribute(node, "value");
  const float number = value ? floats_of(value->t()).at(0) : 0.0F;
  const auto bits = float_to_half(std::clamp(number, -kLargestHalf, kLargestHalf));
  node.clear_attribute();
  auto& attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(proto::AttributeProto::TENSOR);
  *attribute.mutable_t() = make_tensor("value", DType::kFloat16, Shape{1}, &bits);
}

// Graphs inside a node keep their types, so what they read from outside must be float32.
void HalfCaster::rename_captured(proto::NodeProto& node,
                                 const std::map<std::string, std::string>& names) const {
  for (auto& attribute : *node.mutable_attribute()) {
    if (!attribute.has_g()) continue;
    for (auto& inner : *attribute.mutable_g()->mutable_node()) {
      for (auto& input : *inner.mutable_input())
        if (const auto it = names.find(input); it != names.end()) input = it->second;
      rename_captured(inner, names);
    }
  }
}

void HalfCaster::rewrite(int n) {
  const auto& original = graph_.node(n);
  const bool half = !islands_.contains(&original);
  proto::NodeProto node = original;
  const auto is_float = [&](const auto& value) { return types_.is_float(value); };
  if (half && std::any_of(node.output().begin(), node.output().end(), is_float)) retarget(node);
  for (auto& input : *node.mutable_input())
    if (is_float(input) && !contains(kTakeAny, node.op_type())) input = as_type(input, half);
  std::map<std::string, std::string> captured;
  for (const auto& value : captured_values(original))
    if (is_float(value)) captured[value] = as_type(value, false);
  if (!captured.empty()) rename_captured(node, captured);
  for (auto& output : *node.mutable_output())
    if (renamed_.contains(output)) output += "/made";
  *nodes_.add_node() = std::move(node);
  for (const auto& output : original.output())
    if (renamed_.contains(output)) add_cast(output + "/made", output, false);
}

std::vector<std::uint16_t> HalfCaster::halves_of(const proto::TensorProto& tensor) {
  const auto values = floats_of(tensor);
  std::vector<std::uint16_t> halves(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool beyond = std::isfinite(values[i]) && std::abs(values[i]) > kLargestHalf;
    report_.clamped += beyond ? 1 : 0;
    halves[i] = float_to_half(beyond ? std::copysign(kLargestHalf, values[i]) : values[i]);
    report_.flushed += values[i] != 0 && (halves[i] & 0x7fffU) == 0 ? 1 : 0;
  }
  return halves;
}

void HalfCaster::convert_initializers() {
  for (const auto& name : half_weights_) {
    const auto& tensor = *index_.initializer(name);
    const auto halves = halves_of(tensor);
    *graph_.add_initializer() = make_tensor(name + "/half", DType::kFloat16, shape_of(tensor), halves.data());
  }
}

}  // namespace

HalfReport cast_to_half(proto::ModelProto& model) {
  inline_functions(model);
  constants_to_initializers(model);
  auto report = HalfCaster(model).cast();
  remove_unused(model);
  auto& note = *model.add_metadata_props();
  note.set_key("paceline.cast");
  note.set_value(fmt::format("float16, {} operators in float32", report.islands.size()));
  return report;
}

}  // namespace paceline::onnx
