// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string_view>

#include "base/device.h"

namespace paceline::config {

// Stands for the GPU where one can be used, else for the CPU.
inline constexpr std::string_view kAutoDevice = "auto";

// False for engines that only know GPUs, whatever device was asked for, and while auto is not settled (none).
bool runs_on_cpu(std::string_view engine, const std::optional<Device>& device);

}  // namespace paceline::config
