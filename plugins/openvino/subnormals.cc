// SPDX-License-Identifier: MIT
#include "openvino/subnormals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <openvino/op/constant.hpp>
#include <span>

namespace paceline::openvino_plugin {

std::string subnormal_note(const ov::Model& graph) {
  std::ptrdiff_t count = 0;
  std::string first;
  for (const auto& node : graph.get_ops()) {
    const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(node);
    if (!constant || constant->get_element_type() != ov::element::f32) continue;
    const std::span values(constant->get_data_ptr<float>(), ov::shape_size(constant->get_shape()));
    const auto found = std::count_if(values.begin(), values.end(),
                                     [](float value) { return std::fpclassify(value) == FP_SUBNORMAL; });
    if (found > 0 && count == 0) first = node->get_friendly_name();
    count += found;
  }
  return count == 0 ? ""
                    : fmt::format(
                          "the model has {} subnormal weights (below 1.2e-38), the first in '{}', and "
                          "OpenVINO takes such constants as 0; scale them up, or write 0",
                          count, first);
}

}  // namespace paceline::openvino_plugin
