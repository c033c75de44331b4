// SPDX-License-Identifier: MIT
#include "onnx/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "onnx/declared_inputs.h"
#include "onnx/graph.h"
#include "onnx/inline_functions.h"
#include "onnx/model_file.h"
#include "onnx/raise_opset.h"

namespace paceline::onnx {
namespace {

enum class Role {
  kProduct,  // weights times activations, which 8 bits are for
  kFollow,   // fused into the operator before it, so not quantised in between
  kJoin,     // computes in 8 bits when all its inputs are in 8 bits
  kCarry,    // moves or selects values, with the scale of its input
};
struct RoleRow {
  std::string_view op;
  Role role;
};
constexpr std::array kRoles{
    RoleRow{"Conv", Role::kProduct},
    RoleRow{"Gemm", Role::kProduct},
    RoleRow{"MatMul", Role::kProduct},
    RoleRow{"Relu", Role::kFollow},
    RoleRow{"Clip", Role::kFollow},
    RoleRow{"Add", Role::kJoin},
    RoleRow{"Concat", Role::kJoin},
    RoleRow{"AveragePool", Role::kJoin},
    RoleRow{"GlobalAveragePool", Role::kJoin},
    RoleRow{"MaxPool", Role::kCarry},
    RoleRow{"Flatten", Role::kCarry},
    RoleRow{"Reshape", Role::kCarry},
    RoleRow{"Transpose", Role::kCarry},
    RoleRow{"Squeeze", Role::kCarry},
    RoleRow{"Unsqueeze", Role::kCarry},
    RoleRow{"Identity", Role::kCarry},
};
constexpr std::array<std::string_view, 7> kQuantisedOps{
    "QuantizeLinear", "DequantizeLinear", "QLinearConv",          "QLinearMatMul",
    "ConvInteger",    "MatMulInteger",    "DynamicQuantizeLinear"};

std::optional<Role> role_of(const proto::NodeProto& node) {
  const auto row =
      std::find_if(kRoles.begin(), kRoles.end(), [&](const auto& r) { return r.op == node.op_type(); });
  return is_standard(node) && row != kRoles.end() ? std::optional(row->role) : std::nullopt;
}

bool is_product(const proto::NodeProto& node) {
  return role_of(node) == Role::kProduct;
}

// Why the second operand cannot become 8-bit weights; empty: it can.
std::string weight_obstacle(const proto::NodeProto& node, const GraphIndex& index) {
  const auto* weights = index.initializer(node.input(1));
  if (!weights && node.op_type() == "MatMul" && index.initializer(node.input(0)))
    return "its weights are the left factor";
  if (!weights) return "its weights are not a constant of the model";
  if (weights->data_type() != proto::TensorProto::FLOAT) return "its weights are not float32";
  const bool conv = node.op_type() == "Conv";
  if (conv ? weights->dims_size() < 3 : weights->dims_size() != 2)
    return fmt::format("its weights have {} dimensions", weights->dims_size());
  if (node.op_type() == "Gemm" && int_attribute(node, "transA", 0) != 0)
    return "its activation is transposed";
  return {};
}

bool is_activation_product(const proto::NodeProto& node, const GraphIndex& index) {
  return node.op_type() == "MatMul" && !index.initializer(node.input(0)) && !index.initializer(node.input(1));
}

int weight_axis(const proto::NodeProto& node) {
  if (node.op_type() == "Conv") return 0;
  return node.op_type() == "Gemm" && int_attribute(node, "transB", 0) != 0 ? 0 : 1;
}

// Decides for one graph, whose nodes are in topological order.
class Planner {
 public:
  Planner(proto::GraphProto& graph, const PlacementOptions& options)
      : graph_(graph), options_(options), index_(graph) {}

  Placement plan() {
    choose_layers();
    for (int n = 0; n < graph_.node_size(); ++n) mark_integer_outputs(n);
    for (int n = 0; n < graph_.node_size(); ++n) place_reads(n);
    return std::move(placement_);
  }

 private:
  void choose_layers();
  [[nodiscard]] std::string why_float(const proto::NodeProto& node) const;
  [[nodiscard]] bool is_excluded(const std::string& name, std::size_t ordinal) const;
  void check_exclusions() const;
  void mark_integer_outputs(int n);
  void place_reads(int n);
  void quantise_read(int n, const std::string& value);
  [[nodiscard]] bool is_activation(const std::string& value) const {
    return !value.empty() && !index_.initializer(value);
  }
  [[nodiscard]] bool integer_inputs(const proto::NodeProto& node) const;
  [[nodiscard]] bool folds_into_reader(const std::string& value) const;
  [[nodiscard]] bool stored_as_integers(const std::string& value) const;

  proto::GraphProto& graph_;
  const PlacementOptions& options_;
  GraphIndex index_;
  Placement placement_;
  std::vector<const proto::NodeProto*> products_;
  std::set<int> chosen_;
  std::set<std::string> integer_;               // values that an integer engine makes in 8 bits anyway
  std::map<std::string, std::string> carried_;  // value -> the value its range comes from
};

bool Planner::is_excluded(const std::string& name, std::size_t ordinal) const {
  return std::any_of(options_.exclude.begin(), options_.exclude.end(), [&](const std::string& pattern) {
    return matches_glob(name, pattern) || (pattern == "first" && ordinal == 0) ||
           (pattern == "last" && ordinal + 1 == products_.size());
  });
}

// Empty: it can be quantised.
std::string Planner::why_float(const proto::NodeProto& node) const {
  // Attention: softmax concentrates its probabilities near 0, where 255 even steps lose most of them, and
  // these products are a few per cent of a transformer's work.
  if (is_activation_product(node, index_)) return "a product of two activations";
  return weight_obstacle(node, index_);
}

void Planner::check_exclusions() const {
  for (const auto& pattern : options_.exclude) {
    const bool fits = pattern == "first" || pattern == "last" ||
                      std::any_of(products_.begin(), products_.end(),
                                  [&](const auto* node) { return matches_glob(layer_name(*node), pattern); });
    if (!fits && !products_.empty())
      throw Error(
          ErrorCode::kConfig,
          fmt::format("quantisation.exclude: no layer is called '{}'; the first is '{}', the last '{}'",
                      pattern, layer_name(*products_.front()), layer_name(*products_.back())));
  }
}

void Planner::choose_layers() {
  for (const auto& node : graph_.node())
    if (is_product(node) && !is_activation_product(node, index_)) products_.push_back(&node);
  check_exclusions();
  std::size_t ordinal = 0;
  for (int n = 0; n < graph_.node_size(); ++n) {
    const auto& node = graph_.node(n);
    if (!is_product(node)) continue;
    auto reason = why_float(node);
    const bool excluded = reason.empty() && is_excluded(layer_name(node), ordinal);
    if (excluded) reason = "excluded";
    if (!is_activation_product(node, index_)) ++ordinal;
    if (reason.empty()) {
      chosen_.insert(n);
      placement_.layers.push_back({n, layer_name(node), node.op_type(), weight_axis(node)});
    } else {
      placement_.float_layers.push_back({layer_name(node), node.op_type(), std::move(reason), excluded});
    }
  }
}

bool Planner::integer_inputs(const proto::NodeProto& node) const {
  return std::all_of(node.input().begin(), node.input().end(),
                     [&](const auto& input) { return integer_.contains(input); });
}

// Convolutions write 8-bit numbers in every engine; matrix products may also write float, which costs nothing
// and saves a rounding.
void Planner::mark_integer_outputs(int n) {
  const auto& node = graph_.node(n);
  const auto role = role_of(node);
  if (!role || node.output_size() == 0 || node.input_size() == 0) return;
  const std::string& first = node.input(0);
  const bool integer = *role == Role::kProduct ? chosen_.contains(n) && node.op_type() == "Conv"
                       : *role == Role::kJoin  ? integer_inputs(node)
                                               : integer_.contains(first);
  if (!integer) return;
  integer_.insert(node.output(0));
  if (*role == Role::kCarry) carried_[node.output(0)] = carried_.contains(first) ? carried_[first] : first;
}

bool Planner::folds_into_reader(const std::string& value) const {
  const auto& readers = index_.consumers(value);
  return readers.size() == 1 && !index_.is_output(value) && role_of(*readers.front()) == Role::kFollow;
}

bool Planner::stored_as_integers(const std::string& value) const {
  return integer_.contains(value) && !index_.is_output(value) && !folds_into_reader(value);
}

void Planner::quantise_read(int n, const std::string& value) {
  const auto source = carried_.find(value);
  placement_.range_of[value] = source == carried_.end() ? value : source->second;
  placement_.reads[n].insert(value);
}

void Planner::place_reads(int n) {
  const auto& node = graph_.node(n);
  if (chosen_.contains(n)) {
    quantise_read(n, node.input(0));
    return;
  }
  for (const auto& input : node.input())
    if (is_activation(input) && stored_as_integers(input)) quantise_read(n, input);
}

template <typename Nodes>
const proto::NodeProto* quantised_node(const Nodes& nodes) {
  for (const auto& node : nodes) {
    if (std::find(kQuantisedOps.begin(), kQuantisedOps.end(), node.op_type()) != kQuantisedOps.end())
      return &node;
    for (const auto& attribute : node.attribute())
      if (const auto* inner = quantised_node(attribute.g().node())) return inner;
  }
  return nullptr;
}

const proto::NodeProto* quantised_node(const proto::ModelProto& model) {
  if (const auto* node = quantised_node(model.graph().node())) return node;
  for (const auto& function : model.functions())
    if (const auto* node = quantised_node(function.node())) return node;
  return nullptr;
}

constexpr int kDeepest = 100;

// Adds the convolutions and matrix products in the graphs and the function of a node.
void add_inner(const proto::ModelProto& model, const proto::NodeProto& node, std::vector<FloatLayer>& layers,
               int depth = 0) {
  if (depth > kDeepest) return;
  const auto add = [&](const auto& nodes, std::string_view where) {
    for (const auto& inner : nodes) {
      if (is_product(inner))
        layers.push_back({fmt::format("{}/{}", layer_name(node), layer_name(inner)), inner.op_type(),
                          fmt::format("it is inside {} '{}'", where, layer_name(node))});
      add_inner(model, inner, layers, depth + 1);
    }
  };
  for (const auto& attribute : node.attribute())
    add(attribute.g().node(), node.op_type() == "If" ? "a branch of" : "a loop,");
  if (const auto* function = called_function(model, node)) add(function->node(), "a function, called by");
}

void check_model(const proto::ModelProto& model) {
  if (const auto* node = quantised_node(model))
    throw Error(ErrorCode::kUnsupported, fmt::format("the model is quantised already: node '{}' is {}; run "
                                                     "it as it is, or start from its float version",
                                                     layer_name(*node), node->op_type()));
  if (opset_version(model) < kQuantiseOpset)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the model uses operator set {}, int8 needs {} or later; convert it with: "
                            "python3 -c \"import onnx, onnx.version_converter as c; "
                            "onnx.save(c.convert_version(onnx.load('FILE.onnx'), {}), 'NEW.onnx')\"",
                            opset_version(model), kQuantiseOpset, kPerChannelOpset));
}

[[noreturn]] void nothing_to_quantise(const Placement& placement) {
  if (placement.float_layers.empty())
    throw Error(ErrorCode::kUnsupported,
                "nothing to quantise: the model has no convolution and no matrix product");
  const auto& first = placement.float_layers.front();
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("nothing to quantise: none of {} convolutions and matrix products can be; '{}' ({}): {}",
                  placement.float_layers.size(), first.name, first.op, first.reason));
}

}  // namespace

std::set<std::string> Placement::values() const {
  std::set<std::string> names;
  for (const auto& [value, source] : range_of) names.insert(value);
  return names;
}

bool is_quantised(const proto::ModelProto& model) {
  return quantised_node(model) != nullptr;
}

bool can_be_quantised(const std::string& file) {
  try {
    return has_products(file) && !is_quantised(read_without_data(file));
  } catch (const Error&) {
    return false;  // its check says why
  }
}

Placement place(proto::ModelProto& model, const PlacementOptions& options) {
  check_model(model);
  auto placement = Planner(*model.mutable_graph(), options).plan();
  for (const auto& node : model.graph().node()) add_inner(model, node, placement.float_layers);
  if (placement.layers.empty()) nothing_to_quantise(placement);
  return placement;
}

bool matches_glob(std::string_view name, std::string_view pattern) {
  std::size_t n = 0, p = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') {
      ++n, ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace paceline::onnx
