// SPDX-License-Identifier: MIT
#include "workload/inference/idle_gap.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "host/machine/cpu.h"
#include "host/machine/cpu_choice.h"
#include "host/noise/rank_counters.h"

namespace paceline::workload {
namespace {

std::int64_t page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

// Longest mean time of a page that is mapped and zeroed: pages that were in use lately cost less. 0 without
// memory.
double page_fault_ns() {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kPages = 4096, kTimes = 3;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), bytes = kPages * page;
  double longest_ns = 0;
  for (std::size_t i = 0; i < kTimes; ++i) {
    void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return 0;
    ::madvise(block, bytes, MADV_NOHUGEPAGE);
    const auto begin = Clock::now();
    for (std::size_t at = 0; at < bytes; at += page) static_cast<volatile char*>(block)[at] = 1;
    const auto took = std::chrono::duration<double, std::nano>(Clock::now() - begin);
    longest_ns = std::max(longest_ns, took.count() / kPages);
    ::munmap(block, bytes);
  }
  return longest_ns;
}

std::string idle_folder(int cpu) {
  return fmt::format("sys/devices/system/cpu/cpu{}/cpuidle", cpu);
}

// Time in each idle state, over the CPUs of this process.
std::map<std::string, std::int64_t> idle_times_us(const host::SystemFiles& files) {
  std::map<std::string, std::int64_t> times;
  for (const int cpu : host::allowed_cpus())
    for (const auto& state : files.list(idle_folder(cpu)))
      if (const auto us = files.read_int(fmt::format("{}/{}/time", idle_folder(cpu), state)))
        times[state] += *us;
  return times;
}

}  // namespace

IdleGap::IdleGap(std::int64_t gap_ns, const std::atomic<bool>& interrupt, host::SystemFiles files)
    : gap_ns_(gap_ns), interrupt_(interrupt), files_(std::move(files)) {}

IdleGap::Hook IdleGap::hook(Hook before) {
  if (gap_ns_ < 0) return before;
  return [this, before = std::move(before)](std::int64_t index) {
    index == 0 ? begin_phase() : end_sample();
    if (before) before(index);
    sleep();
    faults_before_ = page_faults();
  };
}

void IdleGap::begin_phase() {
  samples_ = faults_ = clocks_ = 0;
  mhz_ = 0;
  idle_us_ = idle_times_us(files_);
}

void IdleGap::end_sample() {
  ++samples_;
  faults_ += page_faults() - faults_before_;
  const auto mhz = host::mean_mhz({::sched_getcpu()}, files_);
  if (mhz) ++clocks_, mhz_ += *mhz;
}

void IdleGap::sleep() const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(50);
  const auto until = Clock::now() + std::chrono::nanoseconds(gap_ns_);
  for (auto now = Clock::now(); now < until && !interrupt_; now = Clock::now())
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(kSlice, until - now));
}

IdleGap::Signs IdleGap::idle_signs() const {
  std::string most;
  std::int64_t most_us = 0;
  for (const auto& [state, us] : idle_times_us(files_)) {
    const auto before = idle_us_.find(state);
    const auto spent = us - (before == idle_us_.end() ? 0 : before->second);
    if (spent > most_us) most = state, most_us = spent;
  }
  const auto cpus = host::allowed_cpus();
  if (most.empty() || cpus.empty()) return {};
  if (host::read_cpu(files_, cpus).virtualized()) return {{"idle_state", "not known in a virtual machine"}};
  const auto folder = fmt::format("{}/{}", idle_folder(cpus.front()), most);
  const auto name = files_.read_trimmed(folder + "/name"), latency = files_.read_trimmed(folder + "/latency");
  if (!name || !latency || *name == "POLL" || *name == "haltpoll") return {};
  return {{"idle_state", *name}, {"idle_exit_us", *latency}};
}

IdleGap::Signs IdleGap::signs() const {
  Signs signs;
  if (samples_ == 0) return signs;
  const auto per_sample = static_cast<double>(faults_) / static_cast<double>(samples_);
  signs.emplace_back("page_faults_per_inference", fmt::format("{:.1f}", per_sample));
  signs.emplace_back("page_fault_ns", fmt::format("{:.0f}", page_fault_ns()));
  if (clocks_ > 0)
    signs.emplace_back("clock_mhz_after_inference",
                       fmt::format("{:.0f}", mhz_ / static_cast<double>(clocks_)));
  for (auto& sign : idle_signs()) signs.push_back(std::move(sign));
  return signs;
}

}  // namespace paceline::workload
