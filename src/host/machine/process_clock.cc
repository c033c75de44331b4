// SPDX-License-Identifier: MIT
#include "host/machine/process_clock.h"

#include <time.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/text.h"
#include "host/system_files.h"

namespace paceline::host {

Number since_process_start_ns() {
  std::ifstream file("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return Number::missing("/proc/self/stat cannot be read");
  constexpr std::size_t kStartTime = 22 - 3;  // fields are counted from 1, and the third follows the name
  const auto fields = words_of(std::string_view(text).substr(name_end + 1));
  const auto start_ticks = fields.size() > kStartTime ? parse_double(fields[kStartTime]) : std::nullopt;
  if (!start_ticks) return Number::missing("/proc/self/stat has an unknown form");
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const double now_ns = static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  return now_ns - *start_ticks * 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace paceline::host
