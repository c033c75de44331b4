// SPDX-License-Identifier: MIT
#include "config/device.h"

namespace paceline::config {

bool runs_on_cpu(std::string_view engine, const std::optional<Device>& device) {
  return device == Device{} && engine != "tensorrt";
}

}  // namespace paceline::config
