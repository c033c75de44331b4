// SPDX-License-Identifier: MIT
#include "torch/training/store_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/resolve.h"

namespace paceline::torch_plugin {
namespace {

constexpr int kBacklog = 2048;  // ranks that connect at the same moment

bool is_loopback(const addrinfo& at) {
  if (at.ai_family == AF_INET) {
    const auto& plain = *reinterpret_cast<const sockaddr_in*>(at.ai_addr);
    return ntohl(plain.sin_addr.s_addr) >> 24 == 127;
  }
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(at.ai_addr)->sin6_addr);
}

// Every machine means itself by such a name.
bool names_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Empty where the address does not belong to this machine.
FileDescriptor bound_to(const addrinfo& at, int port) {
  FileDescriptor socket(::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC, at.ai_protocol));
  const int yes = 1;  // allows the port of a store that has just ended
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0) return {};
  if (::bind(socket.get(), at.ai_addr, at.ai_addrlen) == 0) return socket;
  if (errno == EADDRINUSE) throw Error(ErrorCode::kConfig, port_in_use(port));
  return {};
}

struct Candidate {
  int family;
  StoreSocket at;
};

// Addresses of this machine that the host stands for, and that other hosts know as well.
std::vector<Candidate> candidates(const std::string& host, int port) {
  std::string problem;
  const auto addresses = resolve(host, port, SOCK_STREAM, problem);
  std::vector<Candidate> found;
  for (const auto* at = addresses.get(); at; at = at->ai_next) {
    if (is_loopback(*at) != names_loopback(host)) continue;
    if (auto socket = bound_to(*at, port))
      found.push_back({at->ai_family, {std::move(socket), in_numbers(*at)}});
  }
  return found;
}

}  // namespace

std::string in_numbers(const addrinfo& at) {
  char text[NI_MAXHOST] = "";
  ::getnameinfo(at.ai_addr, at.ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

std::string port_in_use(int port) {
  return fmt::format(
      "port {} is in use on this machine: no store can be served there; end what listens on it, or choose "
      "another port",
      port);
}

int port_of(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&bound)->sin_port
                                          : reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port);
}

StoreSocket listen_for_store(const std::string& host, int port) {
  auto found = candidates(host, port);
  for (const int family : {AF_INET, AF_INET6}) {
    const auto of_family = [&](const Candidate& one) { return one.family == family; };
    const auto count = std::count_if(found.begin(), found.end(), of_family);
    if (count > 1) break;
    if (count == 0) continue;
    auto only = std::find_if(found.begin(), found.end(), of_family);
    if (::listen(only->at.listening.get(), kBacklog) == 0) return std::move(only->at);
    if (errno == EADDRINUSE) throw Error(ErrorCode::kConfig, port_in_use(port));
    break;
  }
  return {{}, host};
}

}  // namespace paceline::torch_plugin
