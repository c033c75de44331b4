// SPDX-License-Identifier: MIT
#include "compare/commands.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "compare/blocks.h"
#include "compare/comparison_answer.h"
#include "support/words.h"

namespace paceline::compare {
namespace {

using paceline::test::expect_words;

// A machine on which command A takes `a_ms`, and B `b_ms`, give or take `sd`; the control is steady.
struct FakeMachine {
  double a_ms = 10, b_ms = 10, sd = 0.002;
  double control_of_b = 1;  // how much longer the control takes before B
  std::string failure{};
  std::int64_t peak = 50'000'000;
  std::atomic<bool> interrupt{false};
  std::size_t interrupt_after = 1000;
  std::vector<std::string> ran{};

  CommandRunner runner() {
    CommandRunner runner;
    runner.run = [this](const std::vector<std::string>& argv) {
      ran.push_back(argv.front());
      interrupt = ran.size() > interrupt_after;
      const double noise = std::exp(sd * CounterRng(7, 1).normal(ran.size()));
      const double ms = (argv.front() == "a" ? a_ms : b_ms) * noise;
      return process::ProcessCost{ms * 1e6, ms * 9e5, peak, failure, interrupt};
    };
    runner.control_ns = [this] {
      const auto order = block_order(100, 1);
      const auto at = control_calls++;
      return 2e7 * (order.at(at) == 1 ? control_of_b : 1) * std::exp(0.001 * CounterRng(8, 1).normal(at));
    };
    runner.last_words = [] { return std::string("cannot open it"); };
    return runner;
  }
  std::size_t control_calls = 0;

  Comparison compared(CommandRequest request = {}) {
    request.sides = {CommandSide{"cmd a", {"a"}}, CommandSide{"cmd b", {"b"}}};
    const auto with = runner();
    return compare_commands(request, with, interrupt);
  }
};

const Figure& wall(const Comparison& found) {
  return found.cases.at(0).figures.at(0);
}

TEST(CompareBlocks, AreMirroredAndContinue) {
  const auto order = block_order(10, 3);
  ASSERT_EQ(order.size(), 20U);
  for (std::size_t i = 0; i < order.size(); i += 4) {
    EXPECT_NE(order[i], order[i + 1]);
    EXPECT_EQ(order[i], order[i + 3]);
    EXPECT_EQ(order[i + 1], order[i + 2]);
  }
  auto first = block_order(4, 3);
  const auto rest = block_order(6, 3, 4);
  first.insert(first.end(), rest.begin(), rest.end());
  EXPECT_EQ(first, order);
  EXPECT_EQ(order_words({0, 1, 1, 0, 1, 0}), "ABBA BA");
}

TEST(CompareBlocks, BothOrdersOccur) {
  const auto words = order_words(block_order(40, 1));
  expect_words(words, {"ABBA", "BAAB"});
}

TEST(CompareCommands, ASlowerCommandIsFound) {
  FakeMachine machine{.b_ms = 11};
  const auto found = machine.compared();
  EXPECT_EQ(wall(found).verdict, stats::Verdict::kRegression);
  EXPECT_EQ(wall(found).pairs, 10);
  EXPECT_NEAR(*wall(found).change, 1.1, 0.005);
  EXPECT_NEAR(*wall(found).a, 10, 0.05);
  EXPECT_EQ(machine.ran.size(), 20U);
  EXPECT_EQ(found.block_order, order_words(block_order(10, 1)));
  EXPECT_EQ(found.cases[0].figures[2].verdict, stats::Verdict::kEquivalent);
  EXPECT_EQ(answer::exit_code_of(checks_of(found)), ExitCode::kGateFailed);
}

TEST(CompareCommands, EqualCommandsAreEquivalent) {
  FakeMachine machine;
  EXPECT_EQ(wall(machine.compared()).verdict, stats::Verdict::kEquivalent);
}

TEST(CompareCommands, TwiceThePairsFollowOnceWhereTheyDecideNothing) {
  FakeMachine machine{.b_ms = 10.3, .sd = 0.05};
  const auto found = machine.compared();
  EXPECT_EQ(machine.ran.size(), 40U);
  EXPECT_EQ(wall(found).pairs, 20);
  expect_words(found.remarks.at(0), {"10 pairs decided nothing"});
}

TEST(CompareCommands, AMovedControlMeansNoVerdictAndExitFour) {
  FakeMachine machine{.b_ms = 11, .control_of_b = 1.05};
  const auto found = machine.compared();
  EXPECT_TRUE(found.control->moved);
  EXPECT_EQ(wall(found).verdict, stats::Verdict::kInconclusive);
  EXPECT_EQ(answer::exit_code_of(checks_of(found)), ExitCode::kEnvironmentInvalid);
  EXPECT_EQ(machine.ran.size(), 20U);
}

TEST(CompareCommands, AFailureEndsItWithTheLastWords) {
  FakeMachine machine{.failure = "exit code 3"};
  try {
    machine.compared();
    FAIL();
  } catch (const Error& error) {
    expect_words(error.what(), {"'cmd ", "exit code 3", "cannot open it", "--ignore-failure"});
  }
  machine.ran.clear(), machine.control_calls = 0;
  const auto found = machine.compared({.ignore_failure = true});
  EXPECT_EQ(wall(found).verdict, stats::Verdict::kEquivalent);
  expect_words(found.remarks.at(0), {"20 processes ended with another exit code"});
}

TEST(CompareCommands, AnInterruptKeepsCompletePairs) {
  FakeMachine machine{.b_ms = 12, .interrupt_after = 15};
  const auto found = machine.compared();
  EXPECT_EQ(wall(found).pairs, 7);
  EXPECT_EQ(wall(found).verdict, stats::Verdict::kRegression);
  expect_words(found.remarks.at(0), {"interrupted: 7 of 10 pairs"});
  FakeMachine at_once{.interrupt_after = 0};
  EXPECT_EQ(wall(at_once.compared()).verdict, stats::Verdict::kInconclusive);
}

TEST(CompareCommands, PreparationAndWarmUpRunBesideThePairs) {
  FakeMachine machine;
  machine.compared({.prepare = {"p"}, .warmup = 2, .pairs = 6});
  EXPECT_EQ(std::ranges::count(machine.ran, "p"), 16);
  EXPECT_EQ(std::ranges::count(machine.ran, "a"), 8);
  EXPECT_EQ(machine.ran.at(0), "p");
}

TEST(CompareCommands, WordsAreSplitAsAShellDoes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(command_words("--command", "echo 'a b' \"c d\" e\\ f"), (Words{"echo", "a b", "c d", "e f"}));
  for (const auto* text : {"a | b", "a > b", "a; b", "echo $(date)", "echo 'a", ""})
    EXPECT_THROW(command_words("--command", text), Error) << text;
  EXPECT_EQ(command_side("--command", "a | b", "/bin/sh").argv, (Words{"/bin/sh", "-c", "a | b"}));
  EXPECT_THROW(command_side("--command", "no-such-program-here 1", "none"), Error);
}

}  // namespace
}  // namespace paceline::compare
