// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace paceline::config {

// A device as engines are told it: "cpu", "cuda:0" for cuda, "cuda:3". None for anything else.
std::optional<std::string> canonical_device(std::string_view text);

// False for engines that know GPUs only, whatever device was asked for.
bool runs_on_cpu(std::string_view engine, std::string_view device);

}  // namespace paceline::config
