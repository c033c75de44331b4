// SPDX-License-Identifier: MIT
#include "cluster/local_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/handle.h"
#include "base/resolve.h"
#include "base/text.h"

namespace paceline::cluster {
namespace {

struct Interface {
  std::string name, address;
  bool loopback = false;
};

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = address->sa_family == AF_INET
                          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
                          : &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  ::inet_ntop(address->sa_family, bytes, text.data(), text.size());
  return text.data();
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

// Interfaces that are up; addresses of version 4, which every launcher uses, come before version 6.
std::vector<Interface> interfaces() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(raw, &::freeifaddrs);
  std::vector<Interface> found;
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs* one = raw; one; one = one->ifa_next)
      if (one->ifa_addr && one->ifa_addr->sa_family == family && (one->ifa_flags & IFF_UP))
        found.push_back({one->ifa_name, text_of(one->ifa_addr), (one->ifa_flags & IFF_LOOPBACK) != 0});
  return found;
}

std::string names_of(const std::vector<Interface>& list) {
  std::vector<std::string> names;
  for (const auto& one : list) names.push_back(fmt::format("{} ({})", one.name, one.address));
  return join(names, ", ");
}

std::string address_of_interface(const std::string& name, const std::string& written) {
  const auto all = interfaces();
  for (const auto& one : all)
    if (one.name == name || one.address == name) return one.address;
  throw Error(ErrorCode::kConfig,
              fmt::format("{}: this host has no such interface; it has {}", written, names_of(all)));
}

// Connecting a datagram socket sends nothing, but chooses an interface.
std::string route_to(const std::string& host, int port) {
  std::string problem = "no route";
  const auto list = resolve(host, port, SOCK_DGRAM, problem);
  for (const addrinfo* one = list.get(); one; one = one->ai_next) {
    const FileDescriptor socket(::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage mine{};
    socklen_t size = sizeof mine;
    if (socket && ::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&mine), &size) == 0)
      return text_of(reinterpret_cast<const sockaddr*>(&mine));
    problem = std::strerror(errno);
  }
  throw Error(
      ErrorCode::kConfig,
      fmt::format("no way from this host to '{}' (port {}), where the ranks meet: {}", host, port, problem));
}

// The host of the store may know itself as 127.0.1.1, where no other host finds it.
std::string only_interface() {
  std::vector<Interface> outside;
  for (const auto& one : interfaces())
    if (!one.loopback && one.address.find(':') == std::string::npos) outside.push_back(one);
  if (outside.size() == 1) return outside.front().address;
  throw Error(
      ErrorCode::kConfig,
      fmt::format("the ranks are on several hosts, but the way to the store is the loopback interface; name "
                  "the interface that the hosts share with --interface or GLOO_SOCKET_IFNAME: {}",
                  outside.empty() ? "this host has none but loopback" : names_of(outside)));
}

}  // namespace

std::string local_address(const std::string& store_address, int store_port, const std::string& interface_name,
                          bool one_host) {
  // gloo accepts a list and prefixes, but people set a single name.
  if (!interface_name.empty())
    return address_of_interface(interface_name, "GLOO_SOCKET_IFNAME=" + interface_name);
  const auto address = route_to(store_address, store_port);
  return one_host || !is_loopback(address) ? address : only_interface();
}

void check_interface(const std::string& name, const std::string& written) {
  address_of_interface(name, written);
}

// A socket can only be bound to an address of this host.
bool is_this_host(const std::string& host) {
  std::string problem;
  const auto list = resolve(host, 0, SOCK_DGRAM, problem);
  for (const addrinfo* one = list.get(); one; one = one->ai_next) {
    const FileDescriptor socket(::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket && ::bind(socket.get(), one->ai_addr, one->ai_addrlen) == 0) return true;
  }
  return false;
}

std::string misleading_loopback(const std::string& host) {
  std::array<char, 256> own{};
  ::gethostname(own.data(), own.size() - 1);
  const auto short_name = [](std::string_view name) { return name.substr(0, name.find('.')); };
  const bool is_address =
      host.find_first_not_of("0123456789.") == std::string::npos || host.find(':') != std::string::npos;
  if (is_address || short_name(host) == short_name(own.data()) || host.starts_with("localhost")) return {};
  std::string problem, found;
  const auto list = resolve(host, 0, SOCK_DGRAM, problem);
  for (const addrinfo* one = list.get(); one; one = one->ai_next) {
    const auto address = text_of(one->ai_addr);
    if (!is_loopback(address)) return {};
    if (found.empty()) found = address;
  }
  return found;
}

std::string own_interfaces() {
  return names_of(interfaces());
}

}  // namespace paceline::cluster
