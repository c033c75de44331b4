// SPDX-License-Identifier: MIT
#include "onnx/inline_functions.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph.h"
#include "onnx/wire.h"

namespace paceline::onnx {
namespace {

constexpr int kMostCalls = 100;

// Fields of newer versions of the format than onnx.proto of the distribution, which keeps them as bytes:
// NodeProto.overload, FunctionProto.attribute_proto and .overload.
constexpr std::uint64_t kNodeOverload = 8, kAttributeDefaults = 11, kFunctionOverload = 13;

std::string_view domain_of(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view{} : domain;
}

template <typename Sets>
std::int64_t version_of(const Sets& sets, std::string_view domain) {
  for (const auto& set : sets)
    if (domain_of(set.domain()) == domain) return set.version();
  return 0;
}

// Whether the function's operators mean the same in the model.
bool same_sets(const proto::ModelProto& model, const proto::FunctionProto& function) {
  return std::all_of(function.opset_import().begin(), function.opset_import().end(), [&](const auto& set) {
    const auto version = version_of(model.opset_import(), domain_of(set.domain()));
    return version == 0 ? !domain_of(set.domain()).empty() : version == set.version();
  });
}

std::vector<proto::AttributeProto> default_attributes(const proto::FunctionProto& function) {
  std::vector<proto::AttributeProto> defaults;
  wire::Message fields(function.unknown_fields());
  while (const auto field = fields.next(kAttributeDefaults))
    if (proto::AttributeProto attribute; attribute.ParseFromString(std::string(field->bytes)))
      defaults.push_back(std::move(attribute));
  return defaults;
}

std::string first_output(const proto::NodeProto& node) {
  const auto& all = node.output();
  const auto it = std::find_if(all.begin(), all.end(), [](const auto& name) { return !name.empty(); });
  return it == all.end() ? layer_name(node) : *it;
}

// One call of a function, whose names and attributes take the places of the function's own.
class Call {
 public:
  Call(const proto::FunctionProto& function, const proto::NodeProto& node)
      : function_(function), node_(node), layer_(layer_name(node) + "/"), prefix_(first_output(node) + "/") {
    for (auto& attribute : default_attributes(function)) attributes_[attribute.name()] = attribute;
    for (const auto& attribute : node.attribute()) attributes_[attribute.name()] = attribute;
    for (int i = 0; i < function.input_size(); ++i)
      names_[function.input(i)] = i < node.input_size() ? node.input(i) : std::string();
    for (int o = 0; o < function.output_size() && o < node.output_size(); ++o)
      if (!node.output(o).empty() && !names_.emplace(function.output(o), node.output(o)).second)
        copies_.push_back(o);
  }

  // Appends the nodes of the call.
  void expand(proto::GraphProto& nodes) const {
    for (auto node : function_.node()) {
      rename(node);
      *nodes.add_node() = std::move(node);
    }
    for (const int o : copies_) {
      const std::vector<std::string> from{name_of(function_.output(o))}, to{node_.output(o)};
      add_node(nodes, "Identity", node_.output(o), from, to);
    }
  }

 private:
  [[nodiscard]] std::string name_of(const std::string& value) const {
    if (value.empty()) return value;
    const auto it = names_.find(value);
    return it == names_.end() ? prefix_ + value : it->second;
  }

  void rename(proto::NodeProto& node) const {
    if (!node.name().empty()) node.set_name(layer_ + node.name());
    for (auto& input : *node.mutable_input()) input = name_of(input);
    for (auto& output : *node.mutable_output()) output = name_of(output);
    take_attributes(node);
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) rename(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) rename(graph);
    }
  }

  void rename(proto::GraphProto& graph) const {
    for (auto* values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
      for (auto& info : *values) info.set_name(name_of(info.name()));
    for (auto& tensor : *graph.mutable_initializer()) tensor.set_name(name_of(tensor.name()));
    for (auto& sparse : *graph.mutable_sparse_initializer())
      sparse.mutable_values()->set_name(name_of(sparse.values().name()));
    for (auto& node : *graph.mutable_node()) rename(node);
  }

  // Attributes that refer to those of the call take its values; without one the operator's default counts.
  void take_attributes(proto::NodeProto& node) const {
    proto::NodeProto taken;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *taken.add_attribute() = std::move(attribute);
        continue;
      }
      const auto given = attributes_.find(attribute.ref_attr_name());
      if (given == attributes_.end()) continue;
      auto& copy = *taken.add_attribute() = given->second;
      copy.set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(taken.mutable_attribute());
  }

  const proto::FunctionProto& function_;
  const proto::NodeProto& node_;
  std::string layer_;   // begins the names of nodes
  std::string prefix_;  // begins the names of values: outputs are unique, names of nodes are not
  std::map<std::string, std::string> names_;
  std::map<std::string, proto::AttributeProto> attributes_;
  std::vector<int> copies_;  // outputs that are inputs, or outputs before them
};

class Inliner {
 public:
  explicit Inliner(const proto::ModelProto& model) : model_(model) {}

  int inline_calls(proto::GraphProto& graph, int depth = 0) {
    int count = 0;
    proto::GraphProto nodes;
    for (auto& node : *graph.mutable_node()) {
      const auto* function = depth < kMostCalls ? called_function(model_, node) : nullptr;
      if (function && same_sets(model_, *function)) {
        count += 1 + expand(*function, node, nodes, depth);
        continue;
      }
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) count += inline_calls(*attribute.mutable_g(), depth);
        for (auto& inner : *attribute.mutable_graphs()) count += inline_calls(inner, depth);
      }
      *nodes.add_node() = std::move(node);
    }
    graph.mutable_node()->Swap(nodes.mutable_node());
    return count;
  }

 private:
  int expand(const proto::FunctionProto& function, const proto::NodeProto& node, proto::GraphProto& nodes,
             int depth) {
    proto::GraphProto body;
    Call(function, node).expand(body);
    const int count = inline_calls(body, depth + 1);
    for (auto& inner : *body.mutable_node()) *nodes.add_node() = std::move(inner);
    return count;
  }

  const proto::ModelProto& model_;
};

void import_sets(proto::ModelProto& model) {
  for (const auto& function : model.functions())
    for (const auto& set : function.opset_import())
      if (version_of(model.opset_import(), domain_of(set.domain())) == 0 && !domain_of(set.domain()).empty())
        *model.add_opset_import() = set;
}

bool calls_any(const proto::ModelProto& model, const proto::GraphProto& graph) {
  return std::any_of(graph.node().begin(), graph.node().end(), [&](const proto::NodeProto& node) {
    const auto& attributes = node.attribute();
    return called_function(model, node) ||
           std::any_of(attributes.begin(), attributes.end(), [&](const auto& attribute) {
             return attribute.has_g() && calls_any(model, attribute.g());
           });
  });
}

}  // namespace

const proto::FunctionProto* called_function(const proto::ModelProto& model, const proto::NodeProto& node) {
  const auto& all = model.functions();
  const auto overload = wire::first_bytes(node.unknown_fields(), kNodeOverload);
  const auto it = std::find_if(all.begin(), all.end(), [&](const proto::FunctionProto& function) {
    return function.name() == node.op_type() && domain_of(function.domain()) == domain_of(node.domain()) &&
           wire::first_bytes(function.unknown_fields(), kFunctionOverload) == overload;
  });
  return it == all.end() ? nullptr : &*it;
}

int inline_functions(proto::ModelProto& model) {
  if (model.functions_size() == 0) return 0;
  proto::GraphProto graph = std::move(*model.mutable_graph());
  const int count = Inliner(model).inline_calls(graph);
  *model.mutable_graph() = std::move(graph);
  import_sets(model);
  if (!calls_any(model, model.graph())) model.clear_functions();
  return count;
}

}  // namespace paceline::onnx
