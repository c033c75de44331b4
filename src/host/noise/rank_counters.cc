// SPDX-License-Identifier: MIT
#include "host/noise/rank_counters.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/text.h"
#include "base/units.h"
#include "host/machine/affinity.h"
#include "host/machine/cgroup.h"
#include "result/stored/device_slowdown.h"

namespace paceline::host {
namespace {

constexpr std::size_t kEnoughClocks = 3;
constexpr double kWorthNaming = 0.05;  // of the time of the CPUs

// "4711 (stress (1)) R 1 …": the name may hold blanks and brackets. Field 14 is utime, 15 stime, 39
// processor.
std::optional<ProcessUse> parse_process(const std::string& stat) {
  const auto open = stat.find('('), close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  const auto words = words_of(stat.substr(close + 1));
  constexpr std::size_t kUser = 14 - 3, kSystem = 15 - 3, kProcessor = 39 - 3;
  if (words.size() <= kProcessor) return std::nullopt;
  const auto user = parse_int(words[kUser]), system = parse_int(words[kSystem]),
             cpu = parse_int(words[kProcessor]);
  if (!user || !system || !cpu) return std::nullopt;
  return ProcessUse{stat.substr(open + 1, close - open - 1), *user + *system, static_cast<int>(*cpu)};
}

std::map<int, ProcessUse> other_processes(const SystemFiles& files, const std::vector<int>& ranks) {
  std::map<int, ProcessUse> others;
  for (const auto& name : files.list("proc")) {
    const auto id = parse_int(name);
    if (!id || *id == ::getpid() || std::ranges::find(ranks, static_cast<int>(*id)) != ranks.end()) continue;
    const auto stat = files.read("proc/" + name + "/stat");
    if (const auto use = stat ? parse_process(*stat) : std::nullopt) others[static_cast<int>(*id)] = *use;
  }
  return others;
}

bool share_a_cpu(const std::vector<int>& some, const std::vector<int>& others) {
  return std::ranges::any_of(some, [&](int cpu) { return std::ranges::find(others, cpu) != others.end(); });
}

// CPU time of the ranks that may run where this one does.
std::int64_t ranks_cpu_ns(const RankCounters& counters, const std::vector<int>& ranks) {
  std::int64_t sum = counters.own.cpu.own_cpu_ns;
  for (const int id : ranks)
    if (id != ::getpid() && share_a_cpu(counters.cpu_numbers, affinity_of_process(id)))
      sum += process_cpu_ns(id);
  return sum;
}

Number per_step(const Number& before, const Number& after, double steps) {
  if (!before || !after) return Number::missing(before ? after.reason() : before.reason());
  return std::max(0.0, (*after - *before) / steps);
}

Number per_step(std::int64_t before, std::int64_t after, double steps) {
  return std::max(0.0, static_cast<double>(after - before) / steps);
}

// Stolen of the time in which there was work. Missing where the window is too short for steal_frac.
Number steal_of_work(const CpuUse& before, const CpuUse& after) {
  const Number of_all = steal_frac(before, after);
  if (!of_all) return of_all;
  const auto stolen = static_cast<double>(after.ticks->steal - before.ticks->steal);
  const double work = stolen + static_cast<double>(after.ticks->busy - before.ticks->busy);
  return work > 0 ? stolen / work : 0;
}

// The process that used most of these CPUs, where that is worth a word.
std::string largest_process(const RankCounters& before, const RankCounters& after) {
  const ProcessUse* largest = nullptr;
  int id = 0;
  std::int64_t most = 0;
  for (const auto& [other, use] : after.others) {
    if (std::ranges::find(after.cpu_numbers, use.cpu) == after.cpu_numbers.end()) continue;
    const auto then = before.others.find(other);
    const auto ticks = use.ticks - (then == before.others.end() ? 0 : then->second.ticks);
    if (ticks > most) most = ticks, largest = &use, id = other;
  }
  const auto window = static_cast<double>(after.cpus.wall_ns - before.cpus.wall_ns) *
                      static_cast<double>(after.cpu_numbers.size());
  if (!largest || static_cast<double>(most * after.cpus.tick_ns) < kWorthNaming * window) return {};
  return fmt::format("{} (pid {})", largest->name, id);
}

Number mean_of(const std::vector<Number>& mhz) {
  double sum = 0;
  for (const auto& one : mhz) {
    if (!one) return one;
    sum += *one;
  }
  if (mhz.size() < kEnoughClocks) return Number::missing("too few samples of the clock");
  return sum / static_cast<double>(mhz.size());
}

Number device_mhz(const ClockSamples& clocks) {
  if (!clocks.no_device.empty()) return Number::missing(clocks.no_device);
  std::vector<Number> mhz;
  for (const auto& one : clocks.device) mhz.push_back(one.sm_mhz);
  return mean_of(mhz);
}

// Every reason, the one that was seen most often first.
std::vector<result::DeviceSlowdown> slowdowns_of(const std::vector<GpuState>& samples) {
  std::map<std::string, std::size_t> seen;
  for (const auto& one : samples)
    if (one.slowed_by && !one.slowed_by.value()->empty()) ++seen[*one.slowed_by];
  std::vector<result::DeviceSlowdown> slowdowns;
  for (const auto& [reason, count] : seen)
    slowdowns.push_back({reason, static_cast<double>(count) / static_cast<double>(samples.size())});
  std::ranges::stable_sort(slowdowns, std::greater(), &result::DeviceSlowdown::share);
  return slowdowns;
}

}  // namespace

RankCounters take_rank_counters(const std::vector<int>& ranks, const SystemFiles& files) {
  RankCounters counters;
  counters.cpu_numbers = current_affinity();
  counters.others = other_processes(files, ranks);
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  counters.system_ns = use.ru_stime.tv_sec * 1'000'000'000LL + use.ru_stime.tv_usec * 1000LL;
  counters.minor_faults = use.ru_minflt, counters.major_faults = use.ru_majflt;
  counters.throttled_ns = cgroup_throttled_ns(files, Cgroups(files));
  counters.own = take_snapshot(files);
  counters.cpus = counters.own.cpu;
  counters.cpus.ticks = read_cpu_ticks(files, counters.cpu_numbers);
  counters.cpus.own_cpu_ns = ranks_cpu_ns(counters, ranks);
  return counters;
}

Number mean_mhz(const std::vector<int>& cpus, const SystemFiles& files) {
  double sum = 0;
  for (const int cpu : cpus) {
    const auto khz =
        files.read_int(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu));
    if (!khz) return Number::missing("no cpufreq");
    sum += static_cast<double>(*khz) / 1000;
  }
  return cpus.empty() ? Number::missing("no CPUs are known") : Number(sum / static_cast<double>(cpus.size()));
}

result::RankEvidence evidence_between(const RankCounters& before, const RankCounters& after,
                                      std::int64_t steps, const ClockSamples& clocks) {
  result::RankEvidence evidence;
  const auto n = static_cast<double>(steps);
  if (steps < 1) return evidence;
  const auto noise = noise_between(before.own, after.own);
  const auto wall_ns = static_cast<double>(after.own.cpu.wall_ns - before.own.cpu.wall_ns);
  evidence.runq_wait_ns =
      noise.runq_wait_frac ? Number(*noise.runq_wait_frac * wall_ns / n) : noise.runq_wait_frac;
  evidence.cpu_ns = per_step(before.own.cpu.own_cpu_ns, after.own.cpu.own_cpu_ns, n);
  evidence.system_ns = per_step(before.system_ns, after.system_ns, n);
  evidence.minor_faults = per_step(before.minor_faults, after.minor_faults, n);
  evidence.major_faults = per_step(before.major_faults, after.major_faults, n);
  evidence.throttled_ns = per_step(before.throttled_ns, after.throttled_ns, n);
  evidence.steal_frac = steal_of_work(before.cpus, after.cpus);
  evidence.foreign_frac = foreign_cpu_frac(before.cpus, after.cpus);
  evidence.core_mhz = mean_of(clocks.core_mhz);
  evidence.device_mhz = device_mhz(clocks);
  evidence.device_slowdowns = slowdowns_of(clocks.device);
  evidence.foreign_process = largest_process(before, after);
  return evidence;
}

}  // namespace paceline::host
