// SPDX-License-Identifier: MIT
#include "torch/training/listener.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include "base/error.h"

namespace paceline::torch_plugin {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

constexpr milliseconds kRetryEvery{200};

Addresses resolve(const std::string& address, int port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (status != 0)
    throw Error(
        ErrorCode::kUnavailable,
        fmt::format("the rendezvous address '{}:{}' does not resolve ({}); give a host name that this "
                    "machine knows, or an IP address",
                    address, port, ::gai_strerror(status)));
  return {found, ::freeaddrinfo};
}

milliseconds left_until(Clock::time_point deadline) {
  return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(deadline - Clock::now()));
}

// 0, or why it did not work.
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

int try_all(const Addresses& addresses, Clock::time_point deadline) {
  int error = ETIMEDOUT;
  for (const auto* at = addresses.get(); at && error != 0; at = at->ai_next)
    error = try_connect(*at, left_until(deadline));
  return error;
}

}  // namespace

void wait_for_listener(const std::string& address, int port, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const auto addresses = resolve(address, port);
  for (;;) {
    const int error = try_all(addresses, deadline);
    if (error == 0) return;
    const auto left = left_until(deadline);
    if (left == milliseconds{0})
      throw Error(
          ErrorCode::kUnavailable,
          fmt::format("nobody serves a store at {}:{}: {} after {:g} s; is rank 0 running, and is this "
                      "its address?",
                      address, port, std::strerror(error), static_cast<double>(timeout.count()) / 1000));
    std::this_thread::sleep_for(std::min(kRetryEvery, left));
  }
}

}  // namespace paceline::torch_plugin
