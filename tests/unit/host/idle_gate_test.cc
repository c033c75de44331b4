// SPDX-License-Identifier: MIT
#include "host/noise/idle_gate.h"

#include <gtest/gtest.h>

#include <vector>

namespace paceline::host {
namespace {

// A machine of two CPUs whose neighbours use a given number of cores, window by window (the last one
// repeats).
class FakeMachine {
 public:
  explicit FakeMachine(std::vector<double> foreign_cores) : foreign_(std::move(foreign_cores)) {}
  IdleGateSeams seams() {
    return {[this] { return now(); }, [this](double seconds) { return sleep(seconds); }};
  }
  int interrupt_at_window = -1;
  bool readable = true;

 private:
  CpuUse now() const {
    CpuUse use{static_cast<std::int64_t>(seconds_ * 1e9), 0, 10'000'000, std::nullopt};
    if (readable)
      use.ticks = CpuTicks{static_cast<std::int64_t>(busy_), 0, static_cast<std::int64_t>(seconds_ * 200), 2};
    return use;
  }
  bool sleep(double seconds) {
    const std::size_t index = std::min(static_cast<std::size_t>(window_), foreign_.size() - 1);
    seconds_ += seconds;
    busy_ += foreign_[index] * seconds * 100;
    return window_++ != interrupt_at_window;
  }
  std::vector<double> foreign_;
  int window_ = 0;
  double seconds_ = 0, busy_ = 0;
};

struct Ran {
  IdleGateReport report;
  std::vector<std::string> said;
};
Ran run(FakeMachine machine, IdleGateOptions options = {.allowed_cpus = 2}) {
  Ran ran;
  ran.report = wait_until_quiet(
      options, [&](const std::string& words) { ran.said.push_back(words); }, machine.seams());
  return ran;
}

TEST(IdleGate, QuietMachinePassesAfterOneWindowInSilence) {
  const auto [report, said] = run(FakeMachine({0.05}));
  EXPECT_EQ(report.outcome, IdleOutcome::kQuiet);
  EXPECT_EQ(report.windows, 1);
  EXPECT_NEAR(*report.foreign_cores, 0.05, 1e-9);
  EXPECT_TRUE(said.empty());
}

TEST(IdleGate, WaitsWithWordsUntilNeighboursLeave) {
  const auto [report, said] = run(FakeMachine({0.3, 0.3, 0.0}));
  EXPECT_EQ(report.outcome, IdleOutcome::kQuiet);
  EXPECT_EQ(report.windows, 3);
  EXPECT_NEAR(report.waited_s, 6, 1e-9);
  EXPECT_EQ(said, (std::vector<std::string>{
                      "neighbours used 0.3 cores in the last 2 s; waiting for quiet (up to 20 s)",
                      "quiet after 6 s"}));
}

TEST(IdleGate, GivesUpAfterTheTimeAndSaysSo) {
  const auto [report, said] = run(FakeMachine({0.4}));
  EXPECT_EQ(report.outcome, IdleOutcome::kStillBusy);
  EXPECT_EQ(report.windows, 10);
  EXPECT_NEAR(report.waited_s, 20, 1e-9);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[1], "neighbours still use 0.4 cores after 20 s; measuring anyway");
  EXPECT_EQ(report.words, said[1]);
}

TEST(IdleGate, LooksOnceWhenNoWaitingIsAllowed) {
  const auto [report, said] = run(FakeMachine({0.4}), {.idle_wait_s = 0, .allowed_cpus = 2});
  EXPECT_EQ(report.outcome, IdleOutcome::kStillBusy);
  EXPECT_EQ(report.windows, 1);
  EXPECT_EQ(said.size(), 1U);
}

TEST(IdleGate, TheLimitScalesWithTheAllowedCpus) {
  EXPECT_EQ(run(FakeMachine({0.3}), {.allowed_cpus = 8}).report.windows, 1);
  EXPECT_EQ(run(FakeMachine({0.3}), {.allowed_cpus = 4}).report.outcome, IdleOutcome::kStillBusy);
}

TEST(IdleGate, InterruptEndsTheWait) {
  FakeMachine machine({0.4});
  machine.interrupt_at_window = 2;
  const auto [report, said] = run(machine);
  EXPECT_EQ(report.outcome, IdleOutcome::kInterrupted);
  EXPECT_EQ(report.windows, 2);
}

TEST(IdleGate, UnreadableMachineIsNotWaitedFor) {
  FakeMachine machine({0.4});
  machine.readable = false;
  const auto [report, said] = run(machine);
  EXPECT_EQ(report.outcome, IdleOutcome::kCannotTell);
  EXPECT_EQ(report.windows, 1);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0], "cannot tell whether the machine is quiet: /proc/stat is not readable");
}

}  // namespace
}  // namespace paceline::host
