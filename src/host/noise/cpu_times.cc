// SPDX-License-Identifier: MIT
#include "host/noise/cpu_times.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/text.h"

namespace paceline::host {
namespace {

constexpr std::int64_t kMinTicks = 20;  // 5 % resolution at worst

std::int64_t own_process_cpu_ns() {
  timespec now{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0) return 0;
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t tick_ns() {
  const long per_second = ::sysconf(_SC_CLK_TCK);
  return per_second > 0 ? 1'000'000'000 / per_second : 10'000'000;
}

int count_cpu_lines(std::string_view text) {
  int cpus = 0;
  for (std::size_t at = text.find("\ncpu"); at != std::string_view::npos; at = text.find("\ncpu", at + 1))
    ++cpus;
  return cpus;
}

// "cpu  user nice system idle iowait irq softirq steal guest guest_nice"; guest time is inside user and nice.
std::optional<CpuTicks> ticks_of_line(std::string_view text, std::string_view name) {
  const auto line = find_field(text, name);
  if (!line) return std::nullopt;
  const auto words = words_of(*line);
  std::array<std::int64_t, 8> t{};
  for (std::size_t i = 0; i < t.size() && i < words.size(); ++i) {
    const auto value = parse_int(words[i]);
    if (!value || *value < 0) return std::nullopt;
    t[i] = *value;
  }
  if (words.size() < 4) return std::nullopt;
  const std::int64_t busy = t[0] + t[1] + t[2] + t[5] + t[6];
  return CpuTicks{busy, t[7], busy + t[3] + t[4] + t[7], 1};
}

struct Window {
  double busy, steal, all, own;  // ticks
};
std::optional<Window> window(const CpuUse& before, const CpuUse& after) {
  if (!before.ticks || !after.ticks || after.ticks->all - before.ticks->all < kMinTicks) return std::nullopt;
  return Window{
      static_cast<double>(after.ticks->busy - before.ticks->busy),
      static_cast<double>(after.ticks->steal - before.ticks->steal),
      static_cast<double>(after.ticks->all - before.ticks->all),
      static_cast<double>(after.own_cpu_ns - before.own_cpu_ns) / static_cast<double>(after.tick_ns)};
}

Number no_window(const CpuUse& before, const CpuUse& after) {
  return Number::missing(before.ticks && after.ticks ? "window too short" : "/proc/stat is not readable");
}

}  // namespace

std::optional<CpuTicks> read_cpu_ticks(const SystemFiles& files) {
  const auto text = files.read("proc/stat");
  auto ticks = text ? ticks_of_line(*text, "cpu") : std::nullopt;
  if (ticks) ticks->cpus = std::max(1, count_cpu_lines(*text));
  return ticks;
}

std::optional<CpuTicks> read_cpu_ticks(const SystemFiles& files, const std::vector<int>& cpus) {
  const auto text = files.read("proc/stat");
  if (!text || cpus.empty()) return std::nullopt;
  CpuTicks sum;
  for (const int cpu : cpus) {
    const auto one = ticks_of_line(*text, fmt::format("cpu{}", cpu));
    if (!one) return std::nullopt;
    sum.busy += one->busy, sum.steal += one->steal, sum.all += one->all, ++sum.cpus;
  }
  return sum;
}

std::int64_t process_cpu_ns(int process_id) {
  clockid_t clock{};
  timespec now{};
  if (::clock_getcpuclockid(process_id, &clock) != 0 || ::clock_gettime(clock, &now) != 0) return 0;
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

CpuUse cpu_use_now(const SystemFiles& files) {
  CpuUse use;
  use.ticks = read_cpu_ticks(files);
  use.own_cpu_ns = own_process_cpu_ns();
  use.wall_ns = SteadyClock{}.now_ns();
  use.tick_ns = tick_ns();
  return use;
}

Number steal_frac(const CpuUse& before, const CpuUse& after) {
  const auto w = window(before, after);
  return w ? Number(std::max(0.0, w->steal / w->all)) : no_window(before, after);
}

Number foreign_cpu_frac(const CpuUse& before, const CpuUse& after) {
  const auto w = window(before, after);
  return w ? Number(std::max(0.0, (w->busy - w->own) / w->all)) : no_window(before, after);
}

Number foreign_cores(const CpuUse& before, const CpuUse& after) {
  const Number share = foreign_cpu_frac(before, after);
  return share ? Number(*share * after.ticks->cpus) : share;
}

}  // namespace paceline::host
