// SPDX-License-Identifier: MIT
#include "base/process_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

namespace paceline {

bool lacks_processes(std::string_view words) {
  return words.find("Resource temporarily unavailable") != std::string_view::npos;
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
