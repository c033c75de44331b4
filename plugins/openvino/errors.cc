// SPDX-License-Identifier: MIT
#include "openvino/errors.h"

#include <array>
#include <string_view>

#include "base/text.h"

namespace paceline::openvino_plugin {
namespace {

// Lines that only say where in OpenVINO's sources it happened.
bool is_place(std::string_view line) {
  return line.starts_with("Exception from src/") || line.starts_with("Check '");
}

}  // namespace

std::string reason_of(const std::exception& exception) {
  std::string reason;
  for (const auto& line : split(exception.what(), '\n')) {
    const auto text = trim(line);
    if (text.empty() || is_place(text)) continue;
    reason += reason.empty() ? "" : "; ";
    reason += text;
  }
  return reason.empty() ? std::string(trim(exception.what())) : reason;
}

}  // namespace paceline::openvino_plugin
