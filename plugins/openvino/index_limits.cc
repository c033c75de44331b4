// SPDX-License-Identifier: MIT
#include "openvino/index_limits.h"

#include <algorithm>
#include <array>
#include <openvino/op/constant.hpp>
#include <optional>
#include <string_view>

namespace paceline::openvino_plugin {
namespace {

// Operators whose results are numbers of their first input.
constexpr std::array<std::string_view, 8> kCarriers{"Convert", "Reshape",   "Squeeze",   "Unsqueeze",
                                                    "Slice",   "Transpose", "Broadcast", "Clamp"};

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

void add_limit(const ov::Model& model, const ov::Node& gather, std::vector<DeclaredInput>& inputs) {
  const auto index = source_of(model, gather.input_value(1));
  const auto axis = ov::as_type_ptr<ov::op::v0::Constant>(gather.get_input_node_shared_ptr(2));
  const auto& shape = gather.get_input_partial_shape(0);
  if (!index || !axis || axis->get_shape() != ov::Shape{} || shape.rank().is_dynamic()) return;
  auto dimension = axis->cast_vector<std::int64_t>().front();
  if (dimension < 0) dimension += shape.rank().get_length();
  auto& input = inputs.at(*index);
  const auto& rows = shape[dimension];
  const auto data = source_of(model, gather.input_value(0));
  if (rows.is_static())
    input.id_limit = input.id_limit == 0 ? rows.get_length() : std::min(input.id_limit, rows.get_length());
  else if (data && model.input(*data).get_node() == gather.get_input_node_ptr(0))
    input.indexes.push_back({inputs.at(*data).name, static_cast<std::size_t>(dimension)});
}

}  // namespace

void add_index_limits(const ov::Model& model, std::vector<DeclaredInput>& inputs) {
  for (const auto& node : model.get_ordered_ops())
    if (std::string_view(node->get_type_name()) == "Gather") add_limit(model, *node, inputs);
}

}  // namespace paceline::openvino_plugin
