// SPDX-License-Identifier: MIT
#include "process/process_cost.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/text.h"
#include "process/spawn.h"

namespace paceline::process {
namespace {

constexpr int kPollMs = 100, kShortPollMs = 1;  // the short one where a process cannot be waited for

// Resident pages of this process. A child has as many before it becomes another program, and the kernel
// counts them in its peak.
std::optional<std::int64_t> own_resident_bytes() {
  try {
    const auto words = split(read_file("/proc/self/statm"), ' ');
    const auto pages = words.size() > 1 ? parse_int(words[1]) : std::nullopt;
    if (pages) return *pages * ::sysconf(_SC_PAGESIZE);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return std::nullopt;
}

Count peak_of(const rusage& usage, const std::optional<std::int64_t>& before) {
  constexpr double kSlack = 1.05;
  const std::int64_t peak = usage.ru_maxrss * 1024;
  if (!before) return Count::missing("/proc does not tell this process's own memory");
  if (static_cast<double>(peak) <= kSlack * static_cast<double>(*before))
    return Count::missing("not above the memory of the process that starts it");
  return peak;
}

double cpu_ns_of(const rusage& usage) {
  const auto ns = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

std::string failure_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

ProcessCost cost_of_process(const std::vector<std::string>& argv, const std::filesystem::path& log,
                            const std::atomic<bool>& interrupt) {
  SpawnRequest request{argv, {}, log};
  request.no_terminal = true;
  const auto before = own_resident_bytes();
  const SteadyClock clock;
  ProcessCost cost;
  const auto begin = clock.now_ns();
  ChildProcess child(request);
  const FileDescriptor end(static_cast<int>(::syscall(SYS_pidfd_open, child.pid(), 0)));
  while (!child.ended()) {
    pollfd waiting{end.get(), POLLIN, 0};
    ::poll(end ? &waiting : nullptr, end ? 1 : 0, end ? kPollMs : kShortPollMs);
    if (interrupt) {
      cost.interrupted = true;
      return cost;
    }
  }
  cost.wall_ns = static_cast<double>(clock.now_ns() - begin);
  cost.cpu_ns = cpu_ns_of(child.usage());
  cost.peak_bytes = peak_of(child.usage(), before);
  cost.failure = failure_of(child.wait_status());
  return cost;
}

}  // namespace paceline::process
