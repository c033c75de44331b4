// SPDX-License-Identifier: MIT
#include "base/process_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>

namespace paceline {

// EAGAIN has the same words of sockets and locks: only alone, or on a line about a start, are threads meant.
bool lacks_processes(std::string_view words) {
  constexpr std::string_view kRefused = "Resource temporarily unavailable";
  constexpr std::array<std::string_view, 5> kStarts{"hread", "fork", "spawn", "clone", "start"};
  if (words == kRefused) return true;
  for (auto at = words.find(kRefused); at != std::string_view::npos; at = words.find(kRefused, at + 1)) {
    const auto line = words.rfind('\n', at);
    const auto begin = line == std::string_view::npos ? 0 : line + 1;
    const auto before = words.substr(begin, at - begin);
    const auto names = [&](std::string_view word) { return before.find(word) != std::string_view::npos; };
    if (std::ranges::any_of(kStarts, names) && !names("socket")) return true;
  }
  return false;
}

std::string process_limit_words() {
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return fmt::format(
      "no more processes or threads can be started: this user{} or the container (pids.max) is at its limit; "
      "end other programs, or raise the limit",
      limited ? fmt::format(", who may have {} (ulimit -u),", limit.rlim_cur) : "");
}

}  // namespace paceline
