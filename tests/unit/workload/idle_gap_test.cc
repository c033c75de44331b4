// SPDX-License-Identifier: MIT
#include "workload/inference/idle_gap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "host/machine/cpu_choice.h"

namespace paceline::workload {
namespace {

namespace fs = std::filesystem;
using Ms = std::chrono::milliseconds;

template <typename Work>
Ms time_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<Ms>(std::chrono::steady_clock::now() - begin);
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

// Writes new pages.
void fault(std::size_t pages) {
  const std::size_t bytes = pages * 4096;
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  ::madvise(block, bytes, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(block)[at] = 1;
  ::munmap(block, bytes);
}

TEST(IdleGap, SleepsBehindWhatComesBefore) {
  const std::atomic<bool> interrupt = false;
  std::vector<std::int64_t> before;
  const IdleGap::Hook note = [&](std::int64_t index) { before.push_back(index); };
  IdleGap gap(20'000'000, interrupt);
  const auto hook = gap.hook(note);
  EXPECT_GE(time_of([&] { hook(0), hook(1); }), Ms(40));
  EXPECT_EQ(before, (std::vector<std::int64_t>{0, 1}));
  IdleGap none(-1, interrupt);
  none.hook(note)(7);
  EXPECT_EQ(before.back(), 7);
  EXPECT_TRUE(none.signs().empty());
  EXPECT_FALSE(none.hook({}));
}

TEST(IdleGap, AnInterruptEndsIt) {
  const std::atomic<bool> interrupt = true;
  IdleGap gap(60'000'000'000, interrupt);
  EXPECT_LT(time_of([&] { gap.hook({})(0); }), Ms(10'000));
}

TEST(IdleGap, SignsAreThoseOfTheLastPhase) {
  const auto root = fs::path(testing::TempDir()) / "idle_gap_signs";
  fs::remove_all(root);
  const auto cpu = [&](int number) { return root / ("sys/devices/system/cpu/cpu" + std::to_string(number)); };
  const auto spend = [&](const char* state, const char* name, const char* latency, const char* us) {
    for (const int number : host::allowed_cpus()) {
      const auto folder = cpu(number) / "cpuidle" / state;
      write(folder / "name", name), write(folder / "latency", latency), write(folder / "time", us);
    }
  };
  const auto clock = [&](const char* khz) {
    for (const int number : host::allowed_cpus()) write(cpu(number) / "cpufreq/scaling_cur_freq", khz);
  };
  spend("state0", "POLL", "0", "5000"), spend("state1", "C6", "133", "100"), clock("3600000");
  const std::atomic<bool> interrupt = false;
  IdleGap gap(0, interrupt, host::SystemFiles(root));
  const auto hook = gap.hook({});
  hook(0), fault(5000), hook(1);  // warm-up
  hook(0), fault(100);
  clock("1200000"), hook(1), fault(100);
  clock("1800000"), hook(2);
  spend("state0", "POLL", "0", "5010"), spend("state1", "C6", "133", "9000");
  std::map<std::string, std::string> signs;
  for (const auto& [name, value] : gap.signs()) signs[name] = value;
  EXPECT_NEAR(std::stod(signs["page_faults_per_inference"]), 100, 30);
  EXPECT_GT(std::stod(signs["page_fault_ns"]), 20);
  EXPECT_EQ(signs["clock_mhz_after_inference"], "1500");
  EXPECT_EQ(signs["idle_state"], "C6");
  EXPECT_EQ(signs["idle_exit_us"], "133");
}

// Signs of two inferences in which the cores spend their time in one idle state.
std::map<std::string, std::string> signs_in_state(const fs::path& root, const char* name) {
  const auto spend = [&](const char* us) {
    for (const int number : host::allowed_cpus()) {
      const auto folder = root / ("sys/devices/system/cpu/cpu" + std::to_string(number)) / "cpuidle/state0";
      write(folder / "name", name), write(folder / "latency", "1"), write(folder / "time", us);
    }
  };
  const std::atomic<bool> interrupt = false;
  IdleGap gap(0, interrupt, host::SystemFiles(root));
  const auto hook = gap.hook({});
  spend("10"), hook(0), spend("9000"), hook(1);
  const auto signs = gap.signs();
  return {signs.begin(), signs.end()};
}

TEST(IdleGap, StatesThatSayNothingAreLeftOut) {
  const auto root = fs::path(testing::TempDir()) / "idle_gap_states";
  fs::remove_all(root);
  EXPECT_EQ(signs_in_state(root, "C1").at("idle_state"), "C1");
  EXPECT_FALSE(signs_in_state(root, "POLL").contains("idle_state"));
  EXPECT_FALSE(signs_in_state(root, "haltpoll").contains("idle_exit_us"));
  write(root / "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n");
  const auto guest = signs_in_state(root, "C1");
  EXPECT_EQ(guest.at("idle_state"), "not known in a virtual machine");
  EXPECT_FALSE(guest.contains("idle_exit_us"));
}

}  // namespace
}  // namespace paceline::workload
