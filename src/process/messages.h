// SPDX-License-Identifier: MIT
// JSON messages between two processes over a socket that keeps their bounds.
#pragma once
#include <optional>

#include "base/json.h"

namespace paceline::process {

// False: the other end is closed.
bool send_message(int socket, const nlohmann::json& message);
// Waits; nullopt when the other end is closed.
std::optional<nlohmann::json> receive_message(int socket);

}  // namespace paceline::process
