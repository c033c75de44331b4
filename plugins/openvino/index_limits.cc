// SPDX-License-Identifier: MIT
#include "openvino/index_limits.h"

#include <algorithm>
#include <array>
#include <openvino/op/constant.hpp>
#include <openvino/op/gather_elements.hpp>
#include <optional>
#include <string_view>

namespace paceline::openvino_plugin {
namespace {

// Operators whose results are numbers of their first input.
constexpr std::array<std::string_view, 12> kCarriers{"Convert", "Reshape",      "Squeeze",   "Unsqueeze",
                                                     "Slice",   "StridedSlice", "Transpose", "Broadcast",
                                                     "Clamp",   "Tile",         "Split",     "VariadicSplit"};

// Operators that index their first input with the integers of input 1, along the axis in `axis`.
enum Axis : std::size_t { kEvery = 1000, kAttribute };
struct Indexing {
  std::string_view op;
  std::size_t axis;  // an input, or one of the above
};
constexpr std::array kIndexing{Indexing{"Gather", 2},
                               Indexing{"GatherElements", kAttribute},
                               Indexing{"GatherND", kEvery},
                               Indexing{"ScatterUpdate", 3},
                               Indexing{"ScatterElementsUpdate", 3},
                               Indexing{"ScatterNDUpdate", kEvery}};

// The input whose numbers a value has; none: it has others.
std::optional<std::size_t> source_of(const ov::Model& model, ov::Output<ov::Node> value) {
  for (;;) {
    for (std::size_t i = 0; i < model.inputs().size(); ++i)
      if (model.input(i).get_node() == value.get_node()) return i;
    const std::string_view type = value.get_node()->get_type_name();
    if (std::ranges::count(kCarriers, type) == 0) return std::nullopt;
    value = value.get_node()->input_value(0);
  }
}

// A constant of one element, in whatever shape.
std::optional<std::int64_t> number_in(const ov::Node& node, std::size_t input) {
  if (input >= node.get_input_size()) return std::nullopt;
  const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(node.get_input_node_shared_ptr(input));
  if (!constant || ov::shape_size(constant->get_shape()) != 1) return std::nullopt;
  return constant->cast_vector<std::int64_t>().front();
}

std::optional<std::int64_t> axis_of(const ov::Node& node, std::size_t axis) {
  if (axis != kAttribute) return number_in(node, axis);
  const auto* elements = ov::as_type<const ov::op::v6::GatherElements>(&node);
  return elements ? std::optional(elements->get_axis()) : std::nullopt;
}

void limit(DeclaredInput& input, std::int64_t rows) {
  input.id_limit = input.id_limit == 0 ? rows : std::min(input.id_limit, rows);
}

void add_limit(const ov::Model& model, const ov::Node& node, const Indexing& row,
               std::vector<DeclaredInput>& inputs) {
  const auto index = source_of(model, node.input_value(1));
  const auto& shape = node.get_input_partial_shape(0);
  if (!index || shape.rank().is_dynamic()) return;
  auto axis = axis_of(node, row.axis);
  if (!axis && row.axis != kEvery) return;
  const auto rank = shape.rank().get_length();
  if (axis && *axis < 0) *axis += rank;
  const auto data = source_of(model, node.input_value(0));
  for (std::int64_t d = 0; d < rank; ++d) {
    if (axis && d != *axis) continue;
    if (shape[d].is_static())
      limit(inputs.at(*index), shape[d].get_length());
    else if (data && model.input(*data).get_node() == node.get_input_node_ptr(0))
      inputs.at(*index).indexes.push_back({inputs.at(*data).name, static_cast<std::size_t>(d)});
  }
}

// Indices of a one-hot vector are below its length.
void add_depth(const ov::Model& model, const ov::Node& node, std::vector<DeclaredInput>& inputs) {
  const auto index = source_of(model, node.input_value(0));
  const auto depth = number_in(node, 1);
  if (index && depth && *depth > 0) limit(inputs.at(*index), *depth);
}

}  // namespace

void add_index_limits(const ov::Model& model, std::vector<DeclaredInput>& inputs) {
  for (const auto& node : model.get_ordered_ops()) {
    const std::string_view type = node->get_type_name();
    const auto* const row = std::ranges::find(kIndexing, type, &Indexing::op);
    if (row != kIndexing.end()) add_limit(model, *node, *row, inputs);
    if (type == "OneHot") add_depth(model, *node, inputs);
  }
}

}  // namespace paceline::openvino_plugin
