// SPDX-License-Identifier: MIT
#pragma once
#include <exception>
#include <optional>
#include <string>

namespace paceline::torch_plugin {

// What a communication library says when another rank is gone or silent, in words; nullopt for other errors.
std::optional<std::string> peer_failure(const std::exception& exception);

}  // namespace paceline::torch_plugin
