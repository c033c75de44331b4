// SPDX-License-Identifier: MIT
#include "process/messages.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>

#include "base/bounded_json.h"

namespace paceline::process {
namespace {

constexpr std::size_t kMaxMessage = 1 << 16;

}  // namespace

bool send_message(int socket, const nlohmann::json& message) {
  const auto text = message.dump();
  return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

std::optional<nlohmann::json> receive_message(int socket) {
  std::string text(kMaxMessage, '\0');
  ssize_t size = 0;
  while ((size = ::recv(socket, text.data(), text.size(), 0)) < 0 && errno == EINTR) {
  }
  if (size <= 0) return std::nullopt;
  return parsed_json(text.substr(0, static_cast<std::size_t>(size)));
}

}  // namespace paceline::process
