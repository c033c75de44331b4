// SPDX-License-Identifier: MIT
#include "onnx/value_observer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"

namespace paceline::onnx {
namespace {

using Floats = std::vector<float>;
constexpr RangeRule kMinMax{RangeMethod::kMinMax}, kEntropy{RangeMethod::kEntropy};

Floats normal(std::size_t n, std::uint64_t seed = 1) {
  const CounterRng rng(seed, 0);
  Floats values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(rng.normal(i));
  return values;
}

ValueObserver observed(std::span<const float> values) {
  ValueObserver o;
  o.add(values);
  return o;
}

TEST(ValueObserver, MinMaxHoldsZero) {
  EXPECT_EQ(observed(Floats{-2, 3, 1}).range(kMinMax), (Range{-2, 3}));
  EXPECT_EQ(observed(Floats{2, 3}).range(kMinMax), (Range{0, 3}));
  EXPECT_EQ(observed(Floats{0, 0}).range({}), (Range{0, 0}));
  EXPECT_EQ(ValueObserver().range(kMinMax), (Range{0, 0}));
}

TEST(ValueObserver, PercentileLeavesOutTheFarValues) {
  Floats values(9999, 1.0F);
  values.push_back(1000);
  const auto clipped = observed(values).range({RangeMethod::kPercentile, 99.9});
  EXPECT_NEAR(clipped.high, 1.0F, 0.26F);  // to the width of a bin: 1024/4096
  EXPECT_EQ(observed(values).range({RangeMethod::kPercentile, 100}).high, 1000);
  EXPECT_EQ(clipped.low, 0);
}

TEST(ValueObserver, APercentileIsThatOfAllMagnitudes) {
  Floats values;
  for (int i = 1; i <= 1000; ++i) values.push_back(i % 2 ? static_cast<float>(i) : -static_cast<float>(i));
  const auto range = observed(values).range({RangeMethod::kPercentile, 90});
  EXPECT_NEAR(range.high, 900, 0.5);
  EXPECT_NEAR(range.low, -900, 0.5);
}

TEST(ValueObserver, EntropyClipsALongTailAndKeepsAnEvenSpread) {
  auto tail = normal(200'000);
  for (std::size_t i = 0; i < 20; ++i) tail[i] = 40;
  EXPECT_LT(observed(tail).range(kEntropy).high, 10);
  EXPECT_GT(observed(tail).range(kEntropy).high, 2.5);
  const CounterRng rng(3, 0);
  Floats even(200'000);
  for (std::size_t i = 0; i < even.size(); ++i) even[i] = static_cast<float>(rng.uniform(i));
  EXPECT_GT(observed(even).range(kEntropy).high, 0.9);
}

TEST(ValueObserver, EntropyIgnoresHowManyZerosARelLetsThrough) {
  auto few = normal(100'000);
  for (auto& v : few) v = std::max(v, 0.0F);
  auto many = few;
  many.resize(1'000'000, 0.0F);
  EXPECT_EQ(observed(few).range(kEntropy), observed(many).range(kEntropy));
}

TEST(ValueObserver, OrderAndSplitOfTheDataDoNotMatter) {
  const auto values = normal(5000);
  const std::span<const float> all(values);
  const ValueObserver whole = observed(all);
  ValueObserver pieces;
  const Floats small{1e-6F}, large{700.0F};
  for (const RangeRule rule : {RangeRule{}, kEntropy, kMinMax}) {
    ValueObserver forwards = observed(small), backwards = observed(large);
    forwards.add(all.first(100));
    forwards.add(large);
    forwards.add(all.subspan(100));
    ValueObserver rest = observed(all.subspan(100));
    rest.add(small);
    backwards.add(all.first(100));
    backwards.merge(rest);
    EXPECT_EQ(forwards.range(rule), backwards.range(rule));
    EXPECT_EQ(forwards.count(), 5002U);
    EXPECT_EQ(backwards.count(), 5002U);
  }
}

TEST(ValueObserver, CountsNonFiniteValuesSeparately) {
  const auto o = observed(Floats{1, std::numeric_limits<float>::infinity(), std::nanf("")});
  EXPECT_EQ(o.count(), 1U);
  EXPECT_EQ(o.not_finite(), 2U);
  EXPECT_EQ(o.range(kMinMax), (Range{0, 1}));
}

TEST(ValueObserver, VerySmallValuesHaveARange) {
  const auto o = observed(Floats{1e-30F, -2e-30F});
  EXPECT_EQ(o.range(kMinMax), (Range{-2e-30F, 1e-30F}));
  EXPECT_GT(o.range({}).high, 0);
}

TEST(RangeMethod, NamesAreReadAndWritten) {
  for (const auto method : {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy})
    EXPECT_EQ(parse_range_method(range_method_name(method)), method);
  EXPECT_THROW(parse_range_method("median"), Error);
}

}  // namespace
}  // namespace paceline::onnx
