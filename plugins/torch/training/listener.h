// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <string>

namespace paceline::torch_plugin {

// Waits until something listens on address:port and returns its numeric address. Error(kConfig) at once when
// the name does not resolve, Error(kUnavailable) when nothing does within `timeout`.
std::string wait_for_listener(const std::string& address, int port, std::chrono::milliseconds timeout);

}  // namespace paceline::torch_plugin
