// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace paceline::config {

// Stands for the GPU where one can be used, else for the CPU.
inline constexpr std::string_view kAutoDevice = "auto";

// One spelling per device, as engines are told it: "cpu", "cuda:0" for cuda, "cuda:3". None for other text.
std::optional<std::string> canonical_device(std::string_view text);

// False for engines that only know GPUs, whatever device was asked for, and while auto is not settled.
bool runs_on_cpu(std::string_view engine, std::string_view device);

}  // namespace paceline::config
