// SPDX-License-Identifier: MIT
#include "torch/training/listener.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/ask_until.h"
#include "base/error.h"
#include "base/resolve.h"
#include "torch/training/store_socket.h"

namespace paceline::torch_plugin {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr Pauses kPauses{milliseconds(200), milliseconds(200)};

Addresses addresses_of(const std::string& address, int port) {
  std::string problem;
  auto found = resolve(address, port, SOCK_STREAM, problem);
  if (!found)
    throw Error(ErrorCode::kConfig, fmt::format("the rendezvous address '{}:{}' does not resolve ({}); give "
                                                "a host name that this machine knows, or an IP address",
                                                address, port, problem));
  return found;
}

milliseconds left_until(Clock::time_point deadline) {
  return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(deadline - Clock::now()));
}

// Returns 0 or the error.
int finish_connecting(int socket, milliseconds limit) {
  pollfd ready{socket, POLLOUT, 0};
  if (::poll(&ready, 1, static_cast<int>(limit.count())) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

int try_connect(const addrinfo& at, milliseconds limit) {
  const int socket = ::socket(at.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, at.ai_protocol);
  if (socket < 0) return errno;
  int error = ::connect(socket, at.ai_addr, at.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = finish_connecting(socket, limit);
  ::close(socket);
  return error;
}

// The first address that answers; null, with the error of the last, when none does.
const addrinfo* try_all(const Addresses& addresses, Clock::time_point deadline, int& error) {
  for (const auto* at = addresses.get(); at; at = at->ai_next)
    if ((error = try_connect(*at, std::max(left_until(deadline), kPauses.first))) == 0) return at;
  return nullptr;
}

}  // namespace

std::string wait_for_listener(const std::string& address, int port, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const auto addresses = addresses_of(address, port);
  int error = ETIMEDOUT;
  const addrinfo* listens = nullptr;
  ask_until(deadline, kPauses, [&] { return (listens = try_all(addresses, deadline, error)) != nullptr; });
  if (listens == nullptr)
    throw Error(
        ErrorCode::kUnavailable,
        fmt::format(
            "nobody serves a store at {}:{}: {} after {:g} s; is rank 0 running, and is this its address?",
            address, port, std::strerror(error), static_cast<double>(timeout.count()) / 1000));
  return in_numbers(*listens);
}

}  // namespace paceline::torch_plugin
