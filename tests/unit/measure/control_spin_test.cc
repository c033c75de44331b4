// SPDX-License-Identifier: MIT
#include "measure/control_spin.h"

#include <gtest/gtest.h>

namespace paceline::measure {
namespace {

// Not optimised away, and no more than a fraction of a second.
TEST(ControlSpin, TakesSomeMilliseconds) {
  const double ns = control_spin_ns();
  EXPECT_GT(ns, 1e6);
  EXPECT_LT(ns, 2e9);
}

}  // namespace
}  // namespace paceline::measure
