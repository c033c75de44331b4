// SPDX-License-Identifier: MIT
#include "result/figures/two_states.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>

#include "result/stored/case_fields.h"

namespace paceline::result {
namespace {

constexpr std::int64_t kFast = 1'000'000, kSlow = 2'000'000;  // ns

CaseResult with_modes() {
  CaseResult one;
  one.noise.modes = {{1e6, 0.6}, {2e6, 0.4}};
  return one;
}

// A process of inferences that follow one another, all of one duration.
void add_process(CaseResult& one, std::vector<Sample>& samples, std::int64_t duration, double waiting,
                 double foreign) {
  Repetition repetition;
  repetition.index = std::ssize(one.repetitions);
  repetition.noise.runq_wait_frac = waiting;
  repetition.noise.foreign_cpu_frac = foreign;
  for (std::int64_t i = 0; i < 50; ++i)
    samples.push_back({.repetition = static_cast<std::int32_t>(repetition.index),
                       .index = i,
                       .start_ns = i * duration,
                       .host_ns = duration});
  one.repetitions.push_back(std::move(repetition));
}

// A process whose inferences change their duration every 100 ms for 2 s.
std::vector<Sample> alternating() {
  std::vector<Sample> samples;
  for (std::int64_t at = 0; at < 2'000'000'000;) {
    const auto duration = at / 100'000'000 % 2 ? kSlow : kFast;
    samples.push_back({.index = std::ssize(samples), .start_ns = 5'000 + at, .host_ns = duration});
    at += duration;
  }
  return samples;
}

// Readings of a GPU every 50 ms, in the middle of half a state.
SampledWindow readings(double slow_clock, double slow_power) {
  SampledWindow window;
  SampledSeries clock, power, load;
  for (const auto& [series, metric, unit] :
       {std::tuple(&clock, "sm_clock", "MHz"), {&power, "power", "W"}, {&load, "utilization", "%"}})
    series->device = "GPU-1", series->metric = metric, series->unit = unit;
  for (int i = 0; i < 40; ++i) {
    const bool slow = i / 2 % 2 == 1;
    for (auto* series : {&clock, &power, &load}) series->times_s.push_back(0.05 * i + 0.025);
    clock.numbers.push_back(slow ? slow_clock : 1980);
    power.numbers.push_back((slow ? slow_power : 600) + i % 3);
    load.numbers.push_back(slow ? 50 : 100);
  }
  window.series = {clock, power, load};
  return window;
}

TEST(TwoStates, OneModeIsNone) {
  CaseResult one;
  one.noise.modes = {{1e6, 1}};
  EXPECT_FALSE(two_states(one, alternating(), {}));
}

TEST(TwoStates, TheClockOfADeviceTellsThemApart) {
  const auto states = two_states(with_modes(), alternating(), {readings(1200, 600)});
  ASSERT_TRUE(states);
  EXPECT_FALSE(states->by_process);
  EXPECT_NEAR(states->slow_share, 1.0 / 3, 0.01);  // half of the time, of twice the duration
  ASSERT_EQ(states->signs.size(), 1U);
  EXPECT_EQ(states->signs[0].what, "SM clock");
  EXPECT_DOUBLE_EQ(states->signs[0].fast, 1980);
  EXPECT_DOUBLE_EQ(states->signs[0].slow, 1200);
  EXPECT_EQ(states->alike, std::vector<std::string>{"power"});
}

TEST(TwoStates, PowerAloneMayTellThemApart) {
  const auto states = two_states(with_modes(), alternating(), {readings(1980, 450)});
  ASSERT_TRUE(states && states->signs.size() == 1U);
  EXPECT_EQ(states->signs[0].what, "power");
  EXPECT_EQ(states->alike, std::vector<std::string>{"SM clock"});
}

TEST(TwoStates, NothingIsAnAnswer) {
  const auto states = two_states(with_modes(), alternating(), {readings(1980, 600)});
  ASSERT_TRUE(states);
  EXPECT_TRUE(states->signs.empty());
  EXPECT_EQ(states->alike, (std::vector<std::string>{"SM clock", "power"}));
  EXPECT_EQ(two_states(with_modes(), alternating(), {})->unread, "nothing was read beside the samples");
}

TEST(TwoStates, FiguresOfProcessesCountWhereEachStayedInOne) {
  auto one = with_modes();
  std::vector<Sample> samples;
  for (const bool slow : {false, true, true, false, false, true, true, false, false, true})
    add_process(one, samples, slow ? kSlow : kFast, slow ? 0.4 : 0.001, 0.1);
  const auto states = two_states(one, samples, {});
  ASSERT_TRUE(states);
  EXPECT_TRUE(states->by_process);
  ASSERT_EQ(states->signs.size(), 1U);
  EXPECT_EQ(states->signs[0].what, "waiting for a CPU");
  EXPECT_DOUBLE_EQ(states->signs[0].slow, 0.4);
  EXPECT_EQ(states->alike, std::vector<std::string>{"CPU time of other programs"});
}

TEST(TwoStates, OneSwitchProvesNothing) {
  std::vector<Sample> samples;
  for (std::int64_t at = 0; at < 2'000'000'000;) {
    const auto duration = at < 1'000'000'000 ? kFast : kSlow;
    samples.push_back({.index = std::ssize(samples), .start_ns = at, .host_ns = duration});
    at += duration;
  }
  auto window = readings(1980, 600);
  for (std::size_t i = 20; i < 40; ++i) window.series[0].numbers[i] = 1200;
  const auto states = two_states(with_modes(), samples, {window});
  ASSERT_TRUE(states);
  EXPECT_TRUE(states->signs.empty());
  EXPECT_EQ(states->unread, "too few readings were in each");
}

TEST(TwoStates, SixProcessesProveNothing) {
  auto one = with_modes();
  std::vector<Sample> samples;
  for (const bool slow : {false, true, true, false, false, true})
    add_process(one, samples, slow ? kSlow : kFast, slow ? 0.4 : 0.001, 0.1);
  EXPECT_EQ(two_states(one, samples, {})->unread, "too few processes were in each");
}

// Each of two quantities is tested at 2.5 %: 4 and 5 processes in order have p = 2 / 126, 3 and 5 have 2
// / 56.
TEST(TwoStates, ProcessesMustBeEnoughForAllQuantities) {
  const auto with = [](int fast, int slow) {
    auto one = with_modes();
    std::vector<Sample> samples;
    for (int i = 0; i < fast + slow; ++i)
      add_process(one, samples, i < fast ? kFast : kSlow, i < fast ? 0.001 * i : 0.4 + 0.01 * i,
                  0.1 + 0.001 * i);
    return *two_states(one, samples, {});
  };
  EXPECT_EQ(with(4, 5).signs.size(), 1U);  // other programs differ by too little
  EXPECT_EQ(with(4, 5).alike.size(), 1U);
  EXPECT_EQ(with(3, 5).unread, "too few processes were in each");
  EXPECT_EQ(with(30, 20).signs.size(), 2U);  // by the normal distribution
}

TEST(TwoStates, TwoProcessesProveNothing) {
  auto one = with_modes();
  std::vector<Sample> samples;
  add_process(one, samples, kFast, 0, 0);
  add_process(one, samples, kSlow, 0.9, 0.9);
  const auto states = two_states(one, samples, {});
  ASSERT_TRUE(states);
  EXPECT_TRUE(states->signs.empty() && states->alike.empty());
  EXPECT_EQ(states->unread, "too few processes were in each");
}

TEST(TwoStates, AreStored) {
  CaseResult one, back;
  one.two_states = TwoStates{1e6, 2e6, 0.25, true, {{"power", "W", 600, 450}}, {"SM clock"}, ""};
  Reader::read(Writer::write(one), "", back);
  ASSERT_TRUE(back.two_states && back.two_states->signs.size() == 1U);
  EXPECT_DOUBLE_EQ(back.two_states->signs[0].slow, 450);
  EXPECT_TRUE(back.two_states->by_process);
}

}  // namespace
}  // namespace paceline::result
