// SPDX-License-Identifier: MIT
// The row about the driver's error messages (Xid) in the kernel's log.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>

#include "base/handle.h"
#include "base/text.h"
#include "host/checks/gpu_health.h"
#include "host/machine/accelerators.h"

namespace paceline::host {
namespace {

constexpr std::size_t kMostLog = 8U << 20U;  // bytes; a kernel's log has less

// Errors of hardware and driver in NVIDIA's list of Xid errors. Others are mostly mistakes of programs.
struct Meaning {
  long long number;  // NOLINT(google-runtime-int)
  const char* words;
};
constexpr std::array kMeanings{Meaning{48, "memory error that could not be corrected"},
                               Meaning{62, "internal controller halted"},
                               Meaning{63, "memory row or page set aside"},
                               Meaning{64, "memory row or page could not be set aside"},
                               Meaning{74, "NVLink error"},
                               Meaning{79, "fell off the bus"},
                               Meaning{92, "many corrected memory errors"},
                               Meaning{94, "memory error, contained"},
                               Meaning{95, "memory error, not contained"},
                               Meaning{119, "GSP does not answer"},
                               Meaning{120, "GSP error"},
                               Meaning{140, "memory error that could not be corrected"},
                               Meaning{149, "NVLink error"},
                               Meaning{154, "asks for a reset or a restart"}};

struct Log {
  std::string text;
  int error = 0;  // why it cannot be opened; 0: it can
};

// Each read gives one record, and fails for records that were overwritten meanwhile.
Log kernel_log(const SystemFiles& files) {
  const FileDescriptor file(::open(files.path("dev/kmsg").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) return {{}, errno};
  Log log;
  std::array<char, 8192> record{};
  while (log.text.size() < kMostLog) {
    const auto got = ::read(file.get(), record.data(), record.size());
    if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (got < 0 && errno != EAGAIN && log.text.empty()) log.error = errno;
    if (got <= 0) break;
    log.text.append(record.data(), static_cast<std::size_t>(got));
  }
  return log;
}

using Errors = std::map<std::pair<std::string, long long>, int>;  // by GPU and number: how many

// "… NVRM: Xid (PCI:0000:1b:00): 79, pid=…, GPU has fallen off the bus."
Errors errors_in(const std::string& log) {
  constexpr std::string_view kMark = "NVRM: Xid (";
  Errors errors;
  for (auto at = log.find(kMark); at != std::string::npos; at = log.find(kMark, at + 1)) {
    const auto line = std::string_view(log).substr(at + kMark.size(), 200);
    const auto end = line.find("): ");
    if (end == std::string_view::npos || end > 40) continue;
    const auto rest = line.substr(end + 3);
    const auto number = parse_int(rest.substr(0, rest.find_first_not_of("0123456789")));
    if (number) ++errors[{std::string(line.substr(0, end)), *number}];
  }
  return errors;
}

}  // namespace

CheckResult check_gpu_errors(const SystemFiles& files) {
  if (const auto absent = no_nvidia_device_reason(files); !absent.empty())
    return {Verdict::kNotAsked, absent, {}};
  const auto log = kernel_log(files);
  if (log.error != 0)
    return {Verdict::kNotAsked, fmt::format("the kernel's log cannot be read: {}", std::strerror(log.error)),
            "as root on the host, dmesg | grep Xid"};
  std::vector<std::string> hardware, others;
  for (const auto& [which, count] : errors_in(log.text)) {
    const auto& [gpu, number] = which;
    const auto* const meaning = std::ranges::find(kMeanings, number, &Meaning::number);
    const bool known = meaning != kMeanings.end();
    (known ? hardware : others)
        .push_back(fmt::format("{}: Xid {}{}{}", gpu, number,
                               known ? fmt::format(" ({})", meaning->words) : "",
                               count > 1 ? fmt::format(" {} times", count) : ""));
  }
  if (!hardware.empty())
    return {Verdict::kReservedly, join(hardware, "; "),
            "look at dmesg and NVIDIA's list of Xid errors; leave the GPU out of runs until it is reset"};
  return {Verdict::kYes,
          others.empty() ? "no Xid in the kernel's log" : join(others, "; ") + ", mostly of programs",
          {}};
}

}  // namespace paceline::host
