// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <string>

namespace paceline::torch_plugin {

// Waits until somebody listens on address:port. The address that answered, in numbers. Error(kConfig) at once
// when the name does not resolve, Error(kUnavailable) after `timeout` when nobody does.
std::string wait_for_listener(const std::string& address, int port, std::chrono::milliseconds timeout);

}  // namespace paceline::torch_plugin
