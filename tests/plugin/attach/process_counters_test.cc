// SPDX-License-Identifier: MIT
// Counters of made-up proc files, and of this very process.
#include "attach/process_counters.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/scratch_folder.h"

namespace paceline::attach {
namespace {

std::map<StepCounter, std::uint64_t> by_counter(const std::vector<ProcessCounters::Count>& counts) {
  std::map<StepCounter, std::uint64_t> all;
  for (const auto& one : counts) all[one.counter] = one.value;
  return all;
}

class MadeProc : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const auto path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void thread(int id, std::uint64_t waited_ns) {
    write("proc/self/task/" + std::to_string(id) + "/schedstat",
          "1000 " + std::to_string(waited_ns) + " 7\n");
  }
  [[nodiscard]] std::string root() const { return folder_.path().string() + "/"; }
  [[nodiscard]] std::string line(const std::string& cpu, int busy, int idle, int stolen) const {
    return cpu + " " + std::to_string(busy) + " 0 0 " + std::to_string(idle) + " 0 0 0 " +
           std::to_string(stolen) + " 0 0\n";
  }

  ScratchFolder folder_ = ScratchFolder::below_temp("counters");
};

TEST_F(MadeProc, WaitingIsThatOfTheThreadThatWaitedLongestSinceTheReadingBefore) {
  ProcessCounters counters(root());
  thread(1, 5'000), thread(2, 900'000);
  EXPECT_EQ(by_counter(counters.read(1)).at(StepCounter::kRunQueueWait), 0U);
  thread(1, 75'000), thread(2, 930'000), thread(3, 20'000);  // by 70, 30 and, a new one, 20 us
  EXPECT_EQ(by_counter(counters.read(2)).at(StepCounter::kRunQueueWait), 70'000U);
  thread(3, 200'000);
  EXPECT_EQ(by_counter(counters.read(3)).at(StepCounter::kRunQueueWait), 180'000U);
}

TEST_F(MadeProc, CpusAreThoseThatTheProcessMayUse) {
  std::string stat = line("cpu ", 9'000, 9'000, 9'000);
  for (int cpu = 0; cpu < 8'192; ++cpu) stat += line("cpu" + std::to_string(cpu), 3, 5, 2);
  write("proc/stat", stat + "intr 5 5 5\n");
  const auto seen = by_counter(ProcessCounters(root()).read(1));
  const auto tick = static_cast<std::uint64_t>(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  const auto cpus = seen.at(StepCounter::kBusyCpus) / (3 * tick);
  EXPECT_GE(cpus, 1U);
  EXPECT_LT(cpus, 8'192U);
  EXPECT_EQ(seen.at(StepCounter::kBusyCpus), 3 * cpus * tick);
  EXPECT_EQ(seen.at(StepCounter::kStolenCpus), 2 * cpus * tick);
  EXPECT_EQ(seen.at(StepCounter::kAllCpus), 10 * cpus * tick);
}

TEST_F(MadeProc, TheQuotaIsThatOfItsControlGroup) {
  write("proc/self/cgroup", "12:cpu:/other\n0::/jobs/one\n");
  write("sys/fs/cgroup/jobs/one/cpu.stat", "usage_usec 1\nthrottled_usec 2500\n");
  EXPECT_EQ(by_counter(ProcessCounters(root()).read(1)).at(StepCounter::kThrottled), 2'500'000U);
}

TEST_F(MadeProc, WhatTheKernelLacksIsLeftOut) {
  write("proc/stat", "cpu0 1 2 x\n");
  write("proc/self/task/1/schedstat", "no numbers\n");
  const auto seen = by_counter(ProcessCounters(root()).read(1));
  for (const auto counter : {StepCounter::kRunQueueWait, StepCounter::kBusyCpus, StepCounter::kThrottled})
    EXPECT_FALSE(seen.contains(counter));
  EXPECT_TRUE(seen.contains(StepCounter::kCpuTime));
}

TEST(ProcessCounters, OfThisProcessGrow) {
  ProcessCounters counters;
  const auto before = by_counter(counters.read(1));
  const auto began = ::clock();
  while (::clock() - began < CLOCKS_PER_SEC / 50) continue;
  const auto after = by_counter(counters.read(2));
  EXPECT_GE(after.at(StepCounter::kCpuTime) - before.at(StepCounter::kCpuTime), 20'000'000U);
  EXPECT_EQ(after.at(StepCounter::kCpuSet), before.at(StepCounter::kCpuSet));
}

TEST(ProcessCounters, ReadingsComeTenTimesASecondAndLaterOnce) {
  constexpr std::int64_t kMs = 1'000'000, kStart = 5'000 * kMs;
  ProcessCounters counters;
  EXPECT_TRUE(counters.due(kStart));
  static_cast<void>(counters.read(kStart));
  EXPECT_FALSE(counters.due(kStart + 99 * kMs));
  static_cast<void>(counters.read(kStart + 60'000 * kMs));
  EXPECT_FALSE(counters.due(kStart + 60'999 * kMs));
  EXPECT_TRUE(counters.due(kStart + 90'000 * kMs));  // a reading takes less than 30 ms
}

}  // namespace
}  // namespace paceline::attach
