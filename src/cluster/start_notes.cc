// SPDX-License-Identifier: MIT
#include "cluster/start_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "base/ask_until.h"
#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/json.h"
#include "base/resolve.h"
#include "base/text.h"

namespace paceline::cluster {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxSentence = 1000;  // a datagram of this size is not divided on its way
constexpr Pauses kSendPauses{milliseconds(20), milliseconds(200)};
constexpr std::string_view kGo = "paceline: heard";
constexpr int kMostAtOnce = 1000;  // datagrams, of whoever sends them
constexpr int kGoes = 2;           // a datagram may be lost

// Equal in all processes of a launch.
std::string launch_of(const LaunchPlace& place) {
  return fmt::format("{} {} {}", place.launcher, place.identity, place.world);
}

FileDescriptor datagrams(int family) {
  return FileDescriptor(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

FileDescriptor bound(const sockaddr* at, socklen_t size) {
  auto socket = datagrams(at->sa_family);
  const int both = 0;  // of "::": IPv4 as well
  if (at->sa_family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
  return socket && ::bind(socket.get(), at, size) == 0 ? std::move(socket) : FileDescriptor();
}

bool is_numeric(const addrinfo& at, const std::string& host) {
  std::array<char, NI_MAXHOST> text{};
  return ::getnameinfo(at.ai_addr, at.ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) ==
             0 &&
         host == text.data();
}

// A name may stand for an address here that other hosts know differently: all addresses are listened on then.
FileDescriptor listening_at(const LaunchPlace& place) {
  std::string problem;
  const auto found = resolve(place.address, place.port, SOCK_DGRAM, problem);
  if (!found) return {};
  if (is_numeric(*found, place.address)) return bound(found->ai_addr, found->ai_addrlen);
  for (const auto* any : {"::", "0.0.0.0"})
    if (const auto all = resolve(any, place.port, SOCK_DGRAM, problem))
      if (auto socket = bound(all->ai_addr, all->ai_addrlen)) return socket;
  return {};
}

struct Target {
  FileDescriptor socket;
  sockaddr_storage to{};
  socklen_t size = 0;
};

std::vector<Target> targets_of(const LaunchPlace& place) {
  std::string problem;
  std::vector<Target> all;
  const auto found = resolve(place.address, place.port, SOCK_DGRAM, problem);
  for (const auto* at = found.get(); at != nullptr; at = at->ai_next) {
    Target target{datagrams(at->ai_family), {}, at->ai_addrlen};
    std::memcpy(&target.to, at->ai_addr, at->ai_addrlen);
    if (target.socket) all.push_back(std::move(target));
  }
  return all;
}

bool is_go(const Target& target) {
  std::array<char, 64> text{};
  const auto size = ::recv(target.socket.get(), text.data(), text.size(), 0);
  return size > 0 && std::string_view(text.data(), static_cast<std::size_t>(size)) == kGo;
}

}  // namespace

StartNotes::StartNotes(const LaunchPlace& place) : socket_(listening_at(place)), launch_(launch_of(place)) {}

std::optional<std::string> StartNotes::next_note() {
  std::array<char, 4096> text;
  for (int i = 0; i < kMostAtOnce; ++i) {
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    const auto size =
        ::recvfrom(socket_.get(), text.data(), text.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0) return std::nullopt;
    const auto note = json_or_discarded({text.data(), static_cast<std::size_t>(size)});
    if (!note.is_object() || note.value("launch", nlohmann::json()) != launch_) continue;
    const auto& sentence = note.value("sentence", nlohmann::json());
    const bool known = std::any_of(writers_.begin(), writers_.end(), [&](const auto& writer) {
      return writer.second == length && std::memcmp(&writer.first, &from, length) == 0;
    });
    if (known || !sentence.is_string()) continue;
    writers_.emplace_back(from, length);
    return shown_value(sentence.get<std::string>(), kMaxSentence);
  }
  return std::nullopt;
}

bool StartNotes::let_go() {
  while (next_note()) continue;
  for (int i = 0; i < kGoes; ++i)
    for (const auto& [to, size] : writers_)
      ::sendto(socket_.get(), kGo.data(), kGo.size(), 0, reinterpret_cast<const sockaddr*>(&to), size);
  return !writers_.empty();
}

bool leave_note(const LaunchPlace& place, const std::string& sentence, double limit_s,
                const std::atomic<bool>& interrupt) {
  const auto targets = targets_of(place);
  const auto one_line = join(split(sentence, '\n'), " ");
  const auto note =
      nlohmann::json{{"launch", launch_of(place)}, {"sentence", shown_value(one_line, kMaxSentence)}}.dump(
          -1, ' ', false, nlohmann::json::error_handler_t::replace);
  bool heard = false;
  ask_until(deadline_in(limit_s), kSendPauses, [&] {
    for (const auto& one : targets) {
      ::sendto(one.socket.get(), note.data(), note.size(), 0, reinterpret_cast<const sockaddr*>(&one.to),
               one.size);
      heard = heard || is_go(one);
    }
    return heard || targets.empty() || interrupt;
  });
  return heard;
}

}  // namespace paceline::cluster
