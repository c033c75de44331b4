// SPDX-License-Identifier: MIT
#include "attach/running.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "attach/step_header.h"
#include "base/text.h"

namespace paceline::attach {
namespace {

constexpr double kSameBoot_ns = 60e9;  // by which the clocks may have been set since the job began
constexpr double kSameStart_ns = 1e9;  // by which the kernel's time of a start may be off

double now_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Time since the machine was started at which a process was; none: it is gone, or has ended.
std::optional<double> start_of(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  constexpr std::size_t kState = 0, kStartTime = 22 - 3;  // the third field of all follows the name
  std::istringstream words(text.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
  if (fields.size() <= kStartTime || fields[kState] == "Z" || fields[kState] == "X") return std::nullopt;
  const auto ticks = parse_double(fields[kStartTime]);
  return ticks ? std::optional(*ticks * 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK))) : std::nullopt;
}

}  // namespace

bool is_running(const StepHeader& header) {
  std::array<char, sizeof header.host> host{};
  if (header.closed_ns != 0 || ::gethostname(host.data(), host.size() - 1) != 0) return false;
  if (field_text(header.host) != host.data()) return false;
  const double boot = static_cast<double>(header.realtime_ns - header.monotonic_ns);
  if (std::abs(boot - (now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC))) > kSameBoot_ns) return false;
  const auto start = start_of(header.process);
  const double asleep = now_ns(CLOCK_BOOTTIME) - now_ns(CLOCK_MONOTONIC);
  return start && *start - asleep <= static_cast<double>(header.monotonic_ns) + kSameStart_ns;
}

}  // namespace paceline::attach
