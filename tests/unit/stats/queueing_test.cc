// SPDX-License-Identifier: MIT
#include "stats/queueing.h"

#include <gtest/gtest.h>

#include "stats/quantile.h"

namespace paceline::stats {
namespace {

TEST(LengthRule, IsTheMethodologysCost) {
  EXPECT_EQ(required_requests(kPpmP99, 0.5), 16'000);
  EXPECT_EQ(required_requests(kPpmP99, 0.7), 44'445);
  EXPECT_EQ(required_requests(kPpmP99, 0.9), 400'000);
  EXPECT_EQ(required_requests(kPpmP95, 0.5), 16'000);
  EXPECT_EQ(required_requests(kPpmP90, 0.5), 2'000);
  EXPECT_EQ(required_requests(kPpmP50, 0.5), 2'000);
}

TEST(LengthRule, NoLengthSufficesAtSaturation) {
  EXPECT_FALSE(required_requests(kPpmP50, 1.0));
  EXPECT_FALSE(required_requests(kPpmP99, 1.3));
  EXPECT_FALSE(required_requests(kPpmP99, std::numeric_limits<double>::quiet_NaN()));
}

// One arrival a second; `service` seconds each, one server.
std::vector<double> ends_of_queue(std::size_t n, double service) {
  std::vector<double> ends;
  double free = 0;
  for (std::size_t i = 0; i < n; ++i) ends.push_back(free = std::max(free, static_cast<double>(i)) + service);
  return ends;
}
std::vector<double> one_a_second(std::size_t n) {
  std::vector<double> arrivals;
  for (std::size_t i = 0; i < n; ++i) arrivals.push_back(static_cast<double>(i));
  return arrivals;
}

TEST(BacklogSlope, IsTheExcessOfArrivals) {
  EXPECT_NEAR(backlog_slope(one_a_second(1000), ends_of_queue(1000, 0.9)), 0, 1e-3);
  EXPECT_NEAR(backlog_slope(one_a_second(1000), ends_of_queue(1000, 1.25)), 0.2, 0.01);
}

TEST(BacklogSlope, CountsRequestsThatNeverEnd) {
  auto ends = ends_of_queue(1000, 0.5);
  for (std::size_t i = 0; i < ends.size(); i += 10) ends[i] = kNever;
  EXPECT_NEAR(backlog_slope(one_a_second(1000), ends), 0.1, 0.01);
}

// Two lanes without a pause: [0,2) [2,4) … and [1,3) [3,5) ….
struct Lanes {
  std::vector<double> starts, ends;
  Lanes() {
    for (int i = 0; i < 100; ++i) {
      starts.push_back(2 * i), ends.push_back(2 * i + 2);
      starts.push_back(2 * i + 1), ends.push_back(2 * i + 3);
    }
  }
};

TEST(SteadyWindow, CutsRampUpAndRampDown) {
  const Lanes lanes;
  const auto window = steady_window(lanes.starts, lanes.ends, 2);
  ASSERT_TRUE(window);
  EXPECT_DOUBLE_EQ(window->low, 1);
  EXPECT_DOUBLE_EQ(window->high, 200);
  EXPECT_FALSE(steady_window(lanes.starts, lanes.ends, 3));
  EXPECT_DOUBLE_EQ(mean_in_flight(lanes.starts, lanes.ends, *window), 2);
}

TEST(MeanInFlight, ALostCompletionRaisesIt) {
  Lanes lanes;
  const auto window = *steady_window(lanes.starts, lanes.ends, 2);
  lanes.ends[100] = kNever;
  EXPECT_GT(mean_in_flight(lanes.starts, lanes.ends, window), 2 * 1.02);
}

TEST(MeanInFlight, AnIdleLaneLowersIt) {
  Lanes lanes;
  const auto window = *steady_window(lanes.starts, lanes.ends, 2);
  for (std::size_t i = 21; i < 41; i += 2)
    lanes.starts[i] = lanes.ends[i] = 0;  // ten calls of a lane missing
  EXPECT_LT(mean_in_flight(lanes.starts, lanes.ends, window), 2 * 0.98);
}

TEST(SloTest, IsTheOneSidedBinomialTest) {
  EXPECT_EQ(slo_test(459, 0, 459, 0.99, 0.99).verdict, answer::Verdict::kYes);
  EXPECT_EQ(slo_test(458, 0, 458, 0.99, 0.99).verdict, answer::Verdict::kCannotSay);
  EXPECT_EQ(slo_test(662, 1, 662, 0.99, 0.99).verdict, answer::Verdict::kYes);
  EXPECT_EQ(slo_test(661, 1, 661, 0.99, 0.99).verdict, answer::Verdict::kCannotSay);
}

TEST(SloTest, DependentRequestsAreWorthLess) {
  const auto independent = slo_test(6620, 10, 6620, 0.99, 0.99);
  const auto dependent = slo_test(6620, 10, 662, 0.99, 0.99);
  EXPECT_EQ(independent.over_eff, 10);
  EXPECT_EQ(dependent.over_eff, 1);
  EXPECT_EQ(dependent.verdict, answer::Verdict::kYes);
  EXPECT_EQ(slo_test(6600, 10, 660, 0.99, 0.99).verdict, answer::Verdict::kCannotSay);
}

TEST(SloTest, AShareThatIsTooLargeIsAMiss) {
  EXPECT_EQ(slo_test(10'000, 200, 10'000, 0.99, 0.99).verdict, answer::Verdict::kNo);
  EXPECT_EQ(slo_test(10'000, 100, 10'000, 0.99, 0.99).verdict, answer::Verdict::kCannotSay);
}

TEST(SloTest, SaysHowManyMoreWouldDecide) {
  const auto test = slo_test(300, 0, 300, 0.99, 0.99);
  EXPECT_EQ(test.verdict, answer::Verdict::kCannotSay);
  EXPECT_GE(test.more_requests, 159);
  EXPECT_LE(test.more_requests, 220);
  EXPECT_EQ(slo_test(0, 0, 0, 0.99, 0.99).verdict, answer::Verdict::kCannotSay);
}

}  // namespace
}  // namespace paceline::stats
