// SPDX-License-Identifier: MIT
#include "host/noise/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "host/machine/cgroup.h"
#include "host/noise/instruments.h"

namespace paceline::host {
namespace {

constexpr double kPressureWindowUs = 10e6;          // the kernel adds to its pressure totals every 2 s
constexpr std::int64_t kEnoughCpuNs = 100'000'000;  // a kernel that counts run time has counted some by then

std::optional<ThreadCounters> read_thread(const SystemFiles& files, const std::string& folder) {
  const auto status = files.read(folder + "/status");
  const auto times = words_of(files.read(folder + "/schedstat").value_or(""));
  if (!status || times.size() < 2) return std::nullopt;
  const auto run = parse_int(times[0]), wait = parse_int(times[1]);
  if (!run || !wait) return std::nullopt;
  return ThreadCounters{*run, *wait, find_int_field(*status, "nonvoluntary_ctxt_switches").value_or(0)};
}

std::map<int, ThreadCounters> read_threads(const SystemFiles& files, const std::string& process = "self") {
  std::map<int, ThreadCounters> threads;
  const std::string folder = "proc/" + process + "/task";
  for (const auto& name : files.list(folder)) {
    const auto id = parse_int(name);
    const auto counters = read_thread(files, folder + "/" + name);
    if (id && counters) threads[static_cast<int>(*id)] = *counters;
  }
  return threads;
}

// "some avg10=0.01 avg60=0.18 avg300=0.28 total=9120586"
std::optional<std::int64_t> read_pressure_us(const SystemFiles& files, const std::string& file) {
  const auto text = files.read(file);
  const auto line = text ? find_field(*text, "some") : std::nullopt;
  const std::size_t at = line ? line->find("total=") : std::string_view::npos;
  return at == std::string_view::npos ? std::nullopt : parse_int(line->substr(at + 6));
}

Count read_psi(const SystemFiles& files, const Cgroups& groups) {
  std::optional<std::int64_t> total;
  if (groups.v2().size() > 1) total = read_pressure_us(files, groups.v2().front() + "/cpu.pressure");
  if (!total) total = read_pressure_us(files, "proc/pressure/cpu");
  return {total, "the kernel reports no CPU pressure"};
}

Number read_core_mhz(const SystemFiles& files) {
  std::optional<double> fastest;
  for (const int cpu : parse_cpu_list(files.read("sys/devices/system/cpu/online").value_or(""))) {
    const std::string file = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_cur_freq";
    if (const auto khz = files.read_int(file)) {
      fastest = std::max(fastest.value_or(0), static_cast<double>(*khz) / 1000);
    }
  }
  return {fastest, "no cpufreq"};
}

// The largest growth of one counter over the threads that live at the end; a new thread began at 0.
std::int64_t worst_growth(const NoiseSnapshot& before, const NoiseSnapshot& after,
                          std::int64_t ThreadCounters::*counter) {
  std::int64_t worst = 0;
  for (const auto& [id, now] : after.threads) {
    const auto then = before.threads.find(id);
    worst = std::max(worst, now.*counter - (then == before.threads.end() ? 0 : then->second.*counter));
  }
  return worst;
}

bool counts_run_time(const NoiseSnapshot& snapshot) {
  return snapshot.cpu.own_cpu_ns < kEnoughCpuNs ||
         std::any_of(snapshot.threads.begin(), snapshot.threads.end(),
                     [](const auto& thread) { return thread.second.run_ns > 0; });
}

Number growth(const Count& before, const Count& after, double per) {
  if (!before || !after) return Number::missing(before ? after.reason() : before.reason());
  return std::max(0.0, static_cast<double>(*after - *before) / per);
}

Number pressure_over(const NoiseSnapshot& before, const NoiseSnapshot& after) {
  const double wall_us = static_cast<double>(after.cpu.wall_ns - before.cpu.wall_ns) / 1e3;
  if (wall_us < kPressureWindowUs) return Number::missing("window too short: the kernel counts every 2 s");
  const Number share = growth(before.psi_cpu_some_us, after.psi_cpu_some_us, wall_us);
  return share ? Number(std::min(1.0, *share)) : share;
}

Count count_growth(const Count& before, const Count& after) {
  if (!before || !after) return Count::missing(before ? after.reason() : before.reason());
  return std::max<std::int64_t>(0, *after - *before);
}

// Mean clock, and its sample standard deviation over that.
void fill_clock(result::Noise& noise, std::span<const NoiseSnapshot> snapshots) {
  std::vector<double> mhz;
  for (const auto& one : snapshots) {
    if (!one.core_mhz) {
      noise.core_mhz = noise.freq_cv = Number::missing(one.core_mhz.reason());
      return;
    }
    mhz.push_back(*one.core_mhz);
  }
  const double n = static_cast<double>(mhz.size());
  const double mean = std::accumulate(mhz.begin(), mhz.end(), 0.0) / n;
  double squares = 0;
  for (const double one : mhz) squares += (one - mean) * (one - mean);
  noise.core_mhz = mean;
  noise.freq_cv = std::sqrt(squares / (n - 1)) / mean;
}

void fill_thread_figures(result::Noise& noise, const NoiseSnapshot& before, const NoiseSnapshot& after) {
  const double wall_ns = static_cast<double>(after.cpu.wall_ns - before.cpu.wall_ns);
  if (after.threads.empty()) {
    noise.running_frac = noise.runq_wait_frac = noise.nivcsw_per_s =
        Number::missing("/proc/self/task is not readable");
    return;
  }
  const auto worst = [&](auto counter) { return static_cast<double>(worst_growth(before, after, counter)); };
  noise.nivcsw_per_s = worst(&ThreadCounters::involuntary_switches) / (wall_ns / 1e9);
  // A wait is counted when it ends: one that began before the window can exceed the window.
  const auto share = [&](auto counter) {
    return counts_run_time(after) ? Number(std::min(1.0, worst(counter) / wall_ns))
                                  : Number::missing("the kernel counts no run-queue waits");
  };
  noise.running_frac = share(&ThreadCounters::run_ns);
  noise.runq_wait_frac = share(&ThreadCounters::wait_ns);
}

result::Noise all_missing(const std::string& reason) {
  result::Noise noise;
  for (Number* one : {&noise.running_frac, &noise.runq_wait_frac, &noise.nivcsw_per_s, &noise.steal_frac,
                      &noise.psi_cpu_some, &noise.foreign_cpu_frac, &noise.freq_cv, &noise.core_mhz}) {
    *one = Number::missing(reason);
  }
  noise.cgroup_throttled = Count::missing(reason);
  noise.instrument = instrument_here();
  return noise;
}

}  // namespace

NoiseSnapshot take_snapshot(const SystemFiles& files) {
  const Cgroups groups(files);
  NoiseSnapshot snapshot;
  snapshot.threads = read_threads(files);
  snapshot.psi_cpu_some_us = read_psi(files, groups);
  snapshot.throttled_periods = cgroup_throttled_periods(files, groups);
  snapshot.core_mhz = read_core_mhz(files);
  snapshot.cpu = cpu_use_now(files);
  return snapshot;
}

NoiseSnapshot take_snapshot_with(const std::vector<int>& process_ids) {
  const SystemFiles files;
  auto snapshot = take_snapshot(files);
  for (const int id : process_ids) {
    snapshot.threads.merge(read_threads(files, std::to_string(id)));
    snapshot.cpu.own_cpu_ns += process_cpu_ns(id);
  }
  return snapshot;
}

NoiseSnapshot take_snapshot_beside(const std::vector<int>& process_ids, NoiseSnapshot own) {
  for (const int id : process_ids) own.cpu.own_cpu_ns += process_cpu_ns(id);
  return own;
}

void ThreadsInTurns::begin() {
  at_begin_ = read_threads(SystemFiles());
  begin_ns_ = SteadyClock{}.now_ns();
}

void ThreadsInTurns::end() {
  if (begin_ns_ == 0) return;
  wall_ns_ += SteadyClock{}.now_ns() - begin_ns_;
  begin_ns_ = 0;
  for (const auto& [id, now] : read_threads(SystemFiles())) {
    const auto then = at_begin_.contains(id) ? at_begin_[id] : ThreadCounters{};
    auto& sum = sum_[id];
    sum.run_ns += now.run_ns - then.run_ns;
    sum.wait_ns += now.wait_ns - then.wait_ns;
    sum.involuntary_switches += now.involuntary_switches - then.involuntary_switches;
  }
}

void ThreadsInTurns::fill(result::Noise& noise) const {
  if (wall_ns_ <= 0) return;
  ThreadCounters worst;
  for (const auto& [id, one] : sum_) {
    worst.run_ns = std::max(worst.run_ns, one.run_ns);
    worst.wait_ns = std::max(worst.wait_ns, one.wait_ns);
    worst.involuntary_switches = std::max(worst.involuntary_switches, one.involuntary_switches);
  }
  const auto wall_ns = static_cast<double>(wall_ns_);
  if (noise.running_frac) noise.running_frac = std::min(1.0, static_cast<double>(worst.run_ns) / wall_ns);
  if (noise.runq_wait_frac)
    noise.runq_wait_frac = std::min(1.0, static_cast<double>(worst.wait_ns) / wall_ns);
  if (noise.nivcsw_per_s)
    noise.nivcsw_per_s = static_cast<double>(worst.involuntary_switches) / (wall_ns / 1e9);
}

result::Noise noise_over(std::span<const NoiseSnapshot> snapshots) {
  if (snapshots.size() < 2 || snapshots.back().cpu.wall_ns <= snapshots.front().cpu.wall_ns) {
    return all_missing("no window was measured");
  }
  const NoiseSnapshot &before = snapshots.front(), &after = snapshots.back();
  result::Noise noise;
  fill_thread_figures(noise, before, after);
  noise.steal_frac = steal_frac(before.cpu, after.cpu);
  noise.foreign_cpu_frac = foreign_cpu_frac(before.cpu, after.cpu);
  noise.psi_cpu_some = pressure_over(before, after);
  noise.cgroup_throttled = count_growth(before.throttled_periods, after.throttled_periods);
  fill_clock(noise, snapshots);
  noise.instrument = instrument_here();
  return noise;
}

result::Noise noise_between(const NoiseSnapshot& before, const NoiseSnapshot& after) {
  return noise_over(std::array<NoiseSnapshot, 2>{before, after});
}

}  // namespace paceline::host
