// SPDX-License-Identifier: MIT
#pragma once
#include <exception>
#include <optional>
#include <string>

namespace paceline::torch_plugin {

// Explains in words what a communication library says when another rank is gone or silent; nullopt for other
// errors.
std::optional<std::string> peer_failure(const std::exception& exception);

}  // namespace paceline::torch_plugin
