// SPDX-License-Identifier: MIT
#include "host/checks/network_checks.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/handle.h"
#include "base/resolve.h"
#include "base/text.h"
#include "base/units.h"
#include "host/checks/machine.h"

namespace paceline::host {
namespace {

constexpr std::int64_t kFewFiles = 4096;      // sockets to the peers, libraries and shards of data
constexpr std::int64_t kFewProcesses = 4096;  // threads count, too
constexpr const char* kInfinibandFolder = "sys/class/infiniband";

bool is_below(const Fact& fact, std::int64_t least) {
  return fact.value.is_number() && fact.value.get<std::int64_t>() < least;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

bool can_listen_on(int family, const sockaddr* address, socklen_t size) {
  const FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;  // connections that linger do not count
  return socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
         ::bind(socket.get(), address, size) == 0 && ::listen(socket.get(), 1) == 0;
}

// The inode of the socket that listens on the port: words of a line of /proc/net/tcp; empty: none is seen.
std::string listening_inode(const SystemFiles& files, int port) {
  const auto ending = fmt::format(":{:04X}", port);
  for (const char* table : {"proc/net/tcp", "proc/net/tcp6"})
    for (const auto& line : split(files.read(table).value_or(""), '\n')) {
      const auto words = words_of(line);
      if (words.size() > 9 && words[1].ends_with(ending) && words[3] == "0A") return words[9];
    }
  return {};
}

// "python3 (pid 4711)"; empty where the process is another user's, or of another container.
std::string owner_of(const SystemFiles& files, const std::string& inode) {
  const auto link = fmt::format("socket:[{}]", inode);
  for (const auto& process : files.list("proc")) {
    if (!parse_int(process)) continue;
    const auto folder = fmt::format("proc/{}/", process);
    for (const auto& descriptor : files.list(folder + "fd"))
      if (files.link_target(folder + "fd/" + descriptor) == link)
        return fmt::format("{} (pid {})", files.read_trimmed(folder + "comm").value_or("a program"), process);
  }
  return {};
}

}  // namespace

std::vector<std::string> addresses_of(const std::string& name) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  std::vector<std::string> addresses;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return addresses;
  for (const auto* one = list; one; one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) ==
        0)
      addresses.emplace_back(text.data());
  }
  ::freeaddrinfo(list);
  return addresses;
}

int rendezvous_port() {
  constexpr int kLast = 65535;
  const char* given = std::getenv("MASTER_PORT");
  const auto port = given ? parse_int(given) : std::nullopt;
  return port && *port > 0 && *port <= kLast ? static_cast<int>(*port) : kRendezvousPort;
}

bool can_listen(int port) {
  const auto number = htons(static_cast<std::uint16_t>(port));
  sockaddr_in four{};
  four.sin_family = AF_INET, four.sin_port = number;
  if (!can_listen_on(AF_INET, reinterpret_cast<const sockaddr*>(&four), sizeof four) && errno == EADDRINUSE)
    return false;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6, six.sin6_port = number;
  return can_listen_on(AF_INET6, reinterpret_cast<const sockaddr*>(&six), sizeof six) || errno != EADDRINUSE;
}

CheckResult check_limits(const SystemFiles& files) {
  std::vector<std::string> words, fixes;
  const bool infiniband = !files.list(kInfinibandFolder).empty();
  for (const auto& limit : limit_facts(files)) {
    words.push_back(fmt::format("{} {}", limit.name, shown_value(limit)));
    const bool low = (limit.name == "open files" && is_below(limit, kFewFiles)) ||
                     (limit.name == "processes" && is_below(limit, kFewProcesses)) ||
                     (limit.name == "locked memory" && infiniband && limit.value.is_number());
    if (low) fixes.emplace_back(rule_of(limit.name).fix);
  }
  return {fixes.empty() ? Verdict::kYes : Verdict::kReservedly, join(words, ", "), join(fixes, "; ")};
}

CheckResult check_host_name(const SystemFiles& files, const NetworkSeams& seams) {
  const auto name = files.read_trimmed("proc/sys/kernel/hostname").value_or("");
  if (name.empty()) return {Verdict::kNotAsked, "the kernel does not report the host's name", {}};
  const auto addresses = seams.addresses(name);
  constexpr const char* kFix =
      "give it an address of the network in /etc/hosts or DNS, or name an address in --rdzv-endpoint";
  if (addresses.empty())
    return {Verdict::kReservedly, fmt::format("{} does not resolve: torchrun and other hosts need it", name),
            kFix};
  if (std::ranges::all_of(addresses, is_loopback))
    return {Verdict::kReservedly,
            fmt::format("{} is {}, which other hosts cannot reach", name, addresses.front()), kFix};
  const auto reachable = std::ranges::find_if_not(addresses, is_loopback);
  return {Verdict::kYes, fmt::format("{} is {}", name, *reachable), {}};
}

CheckResult check_port(const SystemFiles& files, const NetworkSeams& seams, int port) {
  if (seams.can_listen(port)) return {Verdict::kYes, fmt::format("port {} is free", port), {}};
  const auto inode = listening_inode(files, port);
  const auto owner = inode.empty() ? "" : owner_of(files, inode);
  constexpr const char* kOtherPort = "choose another port in --rdzv-endpoint or MASTER_PORT";
  if (owner.empty())
    return {Verdict::kReservedly, fmt::format("port {} is taken by a process that is not visible here", port),
            fmt::format("sudo ss -ltnp 'sport = :{}' names it: end it, or {}", port, kOtherPort)};
  return {Verdict::kReservedly, fmt::format("port {} is taken by {}", port, owner),
          fmt::format("end it, or {}", kOtherPort)};
}

CheckResult check_synchronisation(const NetworkSeams& seams) {
  timex clock{};
  const int state = seams.clock_state(&clock);
  if (state < 0)
    return {Verdict::kNotAsked,
            fmt::format("the state of the clock cannot be read: {}", std::strerror(errno)),
            {}};
  if (state == TIME_ERROR || (clock.status & STA_UNSYNC) != 0)
    return {
        Verdict::kReservedly, "the kernel knows of no synchronisation of its clock",
        "start chronyd or systemd-timesyncd, or do not compare time stamps of hosts; durations are right"};
  return {Verdict::kYes,
          fmt::format("synchronised, off by {} at most",
                      format_duration_ns(static_cast<double>(clock.maxerror) * 1e3)),
          {}};
}

CheckResult check_infiniband(const SystemFiles& files) {
  const std::string folder = kInfinibandFolder;
  std::vector<std::string> ports, down;
  for (const auto& device : files.list(folder))
    for (const auto& port : files.list(folder + "/" + device + "/ports")) {
      const auto path = fmt::format("{}/{}/ports/{}/", folder, device, port);
      const auto state = files.read_trimmed(path + "state").value_or("state not known");
      const auto rate = files.read_trimmed(path + "rate").value_or("rate not known");
      ports.push_back(fmt::format("{}:{} {}, {}", device, port, state, rate));
      if (!state.ends_with("ACTIVE")) down.push_back(device + ":" + port);
    }
  if (ports.empty()) return {Verdict::kYes, "no device: hosts talk over TCP", {}};
  if (down.empty()) return {Verdict::kYes, join(ports, "; "), {}};
  return {Verdict::kReservedly, join(ports, "; "),
          fmt::format("check cable and switch of {}, or leave {} out: NCCL_IB_HCA=^{}", join(down, ", "),
                      down.size() == 1 ? "it" : "them", join(down, ","))};
}

}  // namespace paceline::host
