// SPDX-License-Identifier: MIT
#include "workload/pass_records.h"

#include <gtest/gtest.h>

#include <vector>

#include "stats/quantile.h"

namespace paceline::workload {
namespace {

measure::Progress measuring(const stats::StopDecision* decision) {
  return {measure::Phase::kMeasure, 40, 1'000'000, decision, 7.0};
}

TEST(Progress, HasTheIntervalOfTheMedianWhereThereIsOne) {
  stats::StopDecision decision;
  decision.first =
      stats::estimate_quantile(std::vector<double>{1, 5, 2, 4, 3, 2, 5, 1, 3, 4}, stats::kPpmP50, 0.95);
  const auto record = to_progress(measuring(&decision));
  EXPECT_EQ(record.p50_ns.value(), decision.first.value);
  EXPECT_TRUE(record.ci_low_ns.value());
}

TEST(Progress, HasTheMedianWhereSamplesAreTooFewForAnInterval) {
  stats::StopDecision decision;
  decision.first = stats::missing_quantile(stats::kPpmP50, 0.95, "insufficient_samples");
  const auto record = to_progress(measuring(&decision));
  EXPECT_EQ(record.p50_ns.value(), 7.0);
  EXPECT_FALSE(record.ci_low_ns.value());
}

TEST(Progress, NeverCallsAnotherQuantileTheMedian) {
  stats::StopDecision decision;
  decision.first = stats::estimate_quantile(std::vector<double>(1000, 9.0), 990'000, 0.95);
  ASSERT_TRUE(decision.first.value);
  const auto record = to_progress(measuring(&decision));
  EXPECT_EQ(record.p50_ns.value(), 7.0);
  EXPECT_FALSE(record.ci_low_ns.value());
}

}  // namespace
}  // namespace paceline::workload
