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

}  // namespace
}  // namespace paceline::report
