// SPDX-License-Identifier: MIT
#include "report/case_cells.h"

#include <gtest/gtest.h>

namespace paceline::report {
namespace {

result::Estimate estimate_ns(double value) {
  result::Estimate estimate;
  estimate.value = value;
  return estimate;
}

TEST(CaseCells, AMissingIntervalIsNotAnIntervalOfZero) {
  auto estimate = estimate_ns(54.1e6);
  EXPECT_EQ(with_half_width(estimate, 1e-6), "54.1");
  estimate.ci_low = 53.0e6;
  EXPECT_EQ(with_half_width(estimate, 1e-6), "54.1");
  estimate.ci_high = 54.6e6;
  EXPECT_EQ(with_half_width(estimate, 1e-6), "54.1 ±1.1");
}

TEST(CaseCells, AMissingValueIsNoText) {
  EXPECT_EQ(with_half_width(result::Estimate{}, 1e-6), "");
}

TEST(CaseCells, BatchesAreDescribed) {
  result::CaseResult one;
  EXPECT_EQ(batching_text(one), "");
  auto& load = one.load.emplace_back();
  EXPECT_EQ(batching_text(one), "");
  load.max_batch = 4;
  load.batching = "dynamic";
  load.batch_sizes = {{1, 25}, {4, 75}};
  EXPECT_EQ(
      batching_text(one),
      "Batches: up to 4 requests, which wait for no others; dynamic. Requests by the size of their batch: 1: "
      "25.0 %, 4: 75.0 %.");
  load.batch_timeout_ns = 2e6;
  load.batch_sizes.clear();
  const auto text = batching_text(one);
  EXPECT_NE(text.find("whose first waits at most 2.00 ms for the others"), std::string::npos) << text;
  EXPECT_NE(text.find("No request was completed."), std::string::npos) << text;
}

}  // namespace
}  // namespace paceline::report
