// SPDX-License-Identifier: MIT
#include "support/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace paceline::plugin_support {
namespace {

constexpr int kTerms = 256;

// Sums of products with activations as they are, in another order, or rounded to 8 bits of their largest.
enum class How { kExact, kOtherOrder, kRounded };
std::vector<float> products(How how) {
  const CounterRng rng(7, 0);
  std::vector<float> sums;
  for (std::uint64_t row = 0; row < 64; ++row) {
    float sum = 0;
    for (int i = 0; i < kTerms; ++i) {
      const auto k = static_cast<std::uint64_t>(how == How::kOtherOrder ? kTerms - 1 - i : i);
      auto x = static_cast<float>(2 * rng.uniform(k) - 1);
      if (how == How::kRounded) x = std::round(x * 127) / 127;
      sum += x * static_cast<float>(rng.uniform(1000 + row * kTerms + k) - 0.5);
    }
    sums.push_back(sum);
  }
  return sums;
}

TEST(Rounding, ActivationsOfEightBitsAreSeenAndAnotherOrderOfSumsIsNot) {
  EXPECT_FALSE(differ_beyond_float(products(How::kExact), products(How::kExact)));
  EXPECT_FALSE(differ_beyond_float(products(How::kOtherOrder), products(How::kExact)));
  EXPECT_TRUE(differ_beyond_float(products(How::kRounded), products(How::kExact)));
}

TEST(Rounding, RunsThatCannotBeComparedDoNotDiffer) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(differ_beyond_float({1, 2}, {1}));
  EXPECT_FALSE(differ_beyond_float({}, {}));
  EXPECT_FALSE(differ_beyond_float({kNan, 1}, {2, 1}));
  EXPECT_TRUE(differ_beyond_float({1e-3F, 0}, {0, 0}));
}

TEST(Rounding, NumbersOfAllFloatOutputs) {
  const std::vector<float> a{1, 2}, b{3};
  const std::vector<std::int64_t> labels{4};
  const auto view = [](const auto& values, DType type) {
    return TensorView{"o",  const_cast<void*>(static_cast<const void*>(values.data())),
                      type, {static_cast<std::int64_t>(values.size())},
                      {},   {}};
  };
  const std::vector<TensorView> views{view(a, DType::kFloat32), view(labels, DType::kInt64),
                                      view(b, DType::kFloat32)};
  EXPECT_EQ(float_numbers(views), (std::vector<float>{1, 2, 3}));
}

}  // namespace
}  // namespace paceline::plugin_support
