// SPDX-License-Identifier: MIT
// Core sets of the load test: which there are, and what they compute and copy.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <thread>

#include "base/error.h"
#include "host/checks/fma_probe.h"
#include "host/checks/load_test.h"
#include "host/machine/cpu.h"
#include "stats/median.h"

namespace paceline::host {
namespace {

constexpr int kRepetitions = 3;
constexpr double kSecondsEach = 0.02;
constexpr std::size_t kCopiedBytes = 16 << 20;  // by each thread: more than a core's share of the cache
constexpr int kCopies = 4;

// Runs `work` on a thread that may use these CPUs alone, and so may those that it starts.
template <class Work>
void on_cpus(const std::vector<int>& cpus, Work work) {
  std::exception_ptr failure;
  std::jthread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) CPU_SET(cpu, &set);
    try {
      if (::sched_setaffinity(0, sizeof set, &set) != 0)
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("CPUs {} cannot be used: {}", format_cpu_list(cpus), std::strerror(errno)));
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

std::vector<LoadReading> measure_cores(const std::vector<int>& cpus) {
  std::vector<LoadReading> readings;
  on_cpus(cpus, [&] {
    const int threads = static_cast<int>(cpus.size());
    const auto rates = measure_fma_rates(threads, kRepetitions, kSecondsEach);
    if (!rates.empty())
      readings.push_back({"multiply-adds fp32 " + rates.back().instructions, "FLOP/s",
                          stats::median(rates.back().flops_per_s)});
    readings.push_back({"copy", "B/s", stats::median(measure_copy_rates(threads, kCopiedBytes, kCopies))});
  });
  return readings;
}

}  // namespace

std::vector<std::vector<int>> core_sets(const SystemFiles& files, const std::vector<int>& allowed) {
  const auto may_use = [&](int cpu) { return std::ranges::find(allowed, cpu) != allowed.end(); };
  std::vector<std::vector<int>> sets;
  for (const auto& name : files.list("sys/devices/system/node")) {
    if (!name.starts_with("node")) continue;
    auto cpus =
        parse_cpu_list(files.read_trimmed("sys/devices/system/node/" + name + "/cpulist").value_or(""));
    std::erase_if(cpus, [&](int cpu) { return !may_use(cpu); });
    if (!cpus.empty()) sets.push_back(std::move(cpus));
  }
  if (sets.size() > 1) return sets;
  sets.clear();
  std::vector<int> taken;  // hardware threads of cores that are in a set
  for (const int cpu : cores_first(files, allowed)) {
    if (std::ranges::find(taken, cpu) != taken.end()) continue;
    const auto siblings = parse_cpu_list(
        files.read_trimmed(fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu))
            .value_or(""));
    taken.insert(taken.end(), siblings.begin(), siblings.end());
    sets.push_back({cpu});
  }
  return sets;
}

LoadUnit core_set_unit(const std::vector<int>& cpus) {
  const auto where = fmt::format("{} {}", cpus.size() == 1 ? "CPU" : "CPUs", format_cpu_list(cpus));
  return {where, fmt::format("core set of {}", cpus.size()), [cpus] { return measure_cores(cpus); }};
}

}  // namespace paceline::host
