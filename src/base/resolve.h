// SPDX-License-Identifier: MIT
// Resolves the addresses of a host name; header-only, because plug-ins use it too.
#pragma once
#include <netdb.h>
#include <sys/socket.h>

#include <memory>
#include <string>

namespace paceline {

inline constexpr int kRendezvousPort = 29500;  // torchrun's default

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Addresses of a host, given by name or address, for sockets of `type` (SOCK_STREAM, SOCK_DGRAM). Empty, with
// the system's words in `problem`, when the name is unknown.
inline Addresses resolve(const std::string& host, int port, int type, std::string& problem) {
  addrinfo wanted{};
  wanted.ai_socktype = type;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (status != 0) problem = ::gai_strerror(status);
  return {status == 0 ? found : nullptr, &::freeaddrinfo};
}

}  // namespace paceline
