// SPDX-License-Identifier: MIT
#include "analysis/difference/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "stats/spread.h"
#include "synthetic_net.h"

namespace paceline::analysis::difference {
namespace {

using ::testing::HasSubstr;

Explanation between(const Net& a, const Net& b, std::uint64_t seed) {
  return explain(measured(a, seed, 0), measured(b, seed, 1));
}

// The rows add up to the difference of the means of the whole, whatever they are.
void expect_sums(const Explanation& one, const TimedParts& a, const TimedParts& b) {
  const double whole = stats::mean(b.total_ns) - stats::mean(a.total_ns);
  double sum = 0;
  for (const auto& row : one.rows) sum += row.difference_ns;
  EXPECT_NEAR(one.difference_ns, whole, 1e-6 * std::abs(whole));
  EXPECT_NEAR(sum, whole, 0.001 * std::abs(whole));
}

// Explains 20 nets that `alter` changes, and hands the first row of each to `check`.
template <typename Alter, typename Check>
void named_first_in_all(const Alter& alter, const Check& check) {
  for (int seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const auto number = static_cast<std::uint64_t>(seed);
    const Net a = net_of(number);
    Net b = a;
    const std::size_t at = long_conv(a, number % 4);
    alter(b, at);
    const auto left = measured(a, number, 0), right = measured(b, number, 1);
    const auto one = explain(left, right);
    ASSERT_EQ(one.no_claim, "");
    expect_sums(one, left, right);
    ASSERT_GE(one.rows.size(), 2U);
    check(one.rows.front(), a, at);
    EXPECT_EQ(one.rows.back().change, Change::kUnexplained);
  }
}

TEST(Explanation, EqualSidesNameNothing) {
  int nothing_to_explain = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto one = between(net_of(seed), net_of(seed), seed);
    EXPECT_EQ(one.first_cause(), nullptr) << seed;
    nothing_to_explain += one.no_claim.find("nothing to explain") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(nothing_to_explain, kSeeds - 4);  // intervals at 95 %
}

TEST(Explanation, NamesASlowedLayer) {
  named_first_in_all([](Net& b, std::size_t at) { b[at].ns *= 1.5; },
                     [](const DifferenceRow& row, const Net& a, std::size_t at) {
                       EXPECT_EQ(row.what, a[at].is.name);
                       EXPECT_EQ(row.change, Change::kSlower);
                       EXPECT_GT(row.interval.low, 0);
                       EXPECT_LE(row.interval.low, 0.5 * a[at].ns);
                       EXPECT_GE(row.interval.high, 0.5 * a[at].ns);
                     });
}

TEST(Explanation, NamesAFasterLayer) {
  named_first_in_all([](Net& b, std::size_t at) { b[at].ns *= 0.6; },
                     [](const DifferenceRow& row, const Net& a, std::size_t at) {
                       EXPECT_EQ(row.what, a[at].is.name);
                       EXPECT_EQ(row.change, Change::kFaster);
                       EXPECT_GT(*row.share, 0.8);
                     });
}

TEST(Explanation, NamesAFusedPair) {
  const auto fuse = [](Net& b, std::size_t at) {
    b[at].is.name += " + " + b[at + 1].is.name + " + " + b[at + 2].is.name;
    b[at].ns *= 0.7;
    b.erase(b.begin() + static_cast<std::ptrdiff_t>(at) + 1, b.begin() + static_cast<std::ptrdiff_t>(at) + 3);
  };
  named_first_in_all(fuse, [](const DifferenceRow& row, const Net& a, std::size_t at) {
    EXPECT_EQ(row.change, Change::kFused);
    EXPECT_THAT(row.what, HasSubstr(a[at].is.name + " + " + a[at + 1].is.name));
    EXPECT_THAT(row.cause, HasSubstr("one fused part"));
    EXPECT_NEAR(*row.from_ns, a[at].ns * (1 + 1.0 / 8 + 1.0 / 12), 0.05 * a[at].ns);
  });
}

TEST(Explanation, NamesARenamedLayerThatIsSlower) {
  const auto rename = [](Net& b, std::size_t at) {
    b[at].is.name = "backbone.stage.projection";
    b[at].ns *= 1.6;
  };
  named_first_in_all(rename, [](const DifferenceRow& row, const Net& a, std::size_t at) {
    EXPECT_EQ(row.what, a[at].is.name + " → backbone.stage.projection");
    EXPECT_EQ(row.change, Change::kSlower);
    EXPECT_EQ(row.cause, "it has another name");
  });
}

TEST(Explanation, NamesAnAddedLayer) {
  const auto add = [](Net& b, std::size_t at) {
    b.insert(b.begin() + static_cast<std::ptrdiff_t>(at),
             NetLayer{{"Softmax", "attention.softmax"}, b[at].ns / 2});
  };
  named_first_in_all(add, [](const DifferenceRow& row, const Net&, std::size_t) {
    EXPECT_EQ(row.what, "attention.softmax");
    EXPECT_EQ(row.change, Change::kNew);
    EXPECT_FALSE(row.from_ns);
  });
}

TEST(Explanation, NamesAVanishedLayer) {
  named_first_in_all([](Net& b, std::size_t at) { b.erase(b.begin() + static_cast<std::ptrdiff_t>(at)); },
                     [](const DifferenceRow& row, const Net& a, std::size_t at) {
                       EXPECT_EQ(row.what, a[at].is.name);
                       EXPECT_EQ(row.change, Change::kVanished);
                       EXPECT_FALSE(row.to_ns);
                     });
}

// Numbers of the layers after the block shift, so that each number but the first stands for other work.
TEST(Explanation, NamesADuplicatedBlockAmongNumberedLayers) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Net a = net_of(seed);
    const auto at = static_cast<std::ptrdiff_t>(long_conv(a, seed % 4));
    Net b = a;
    b.insert(b.begin() + at, a.begin() + at, a.begin() + at + 3);
    number_layers(a);
    number_layers(b);
    const auto left = measured(a, seed, 0), right = measured(b, seed, 1);
    const auto one = explain(left, right);
    expect_sums(one, left, right);
    ASSERT_FALSE(one.rows.empty()) << one.no_claim;
    const auto& row = one.rows.front();
    EXPECT_EQ(row.change, Change::kNew);
    EXPECT_THAT(row.what, HasSubstr(" + "));  // the block is one row
    EXPECT_THAT(row.cause, HasSubstr("repeats "));
    const double block = a[static_cast<std::size_t>(at)].ns * (1 + 1.0 / 8 + 1.0 / 12);
    EXPECT_NEAR(row.difference_ns, block, 0.1 * block);
    EXPECT_EQ(one.rows[1].change, Change::kRest);
  }
}

TEST(Explanation, NamesAFloatLayerInAnInt8File) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Net a = net_of(seed, "int8");
    for (auto& layer : a)
      if (layer.is.category == "Conv") layer.is.category = "QLinearConv";
    Net b = a;
    const auto at = long_conv(a, seed % 4);
    b[at].is.category = "Conv", b[at].is.precision = "fp32", b[at].ns *= 2.5;
    const auto left = measured(a, seed, 0), right = measured(b, seed, 1);
    const auto one = explain(left, right);
    expect_sums(one, left, right);
    ASSERT_FALSE(one.rows.empty()) << one.no_claim;
    EXPECT_EQ(one.rows[0].what, a[at].is.name);
    EXPECT_EQ(one.rows[0].change, Change::kPrecision);
    EXPECT_THAT(one.rows[0].cause, HasSubstr("it ran in fp32 instead of int8"));
  }
}

TEST(Explanation, NamesALateCollective) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const CounterRng draw(seed, hash64("buckets"));
    Net a{{{"step part", "forward"}, 8e6}, {{"step part", "backward"}, 16e6}};
    for (std::uint64_t k = 0; k < 20 + seed; ++k)
      a.push_back(
          {{"all_reduce", "all-reduce", {}, {}, fmt::format("{} MB", k + 5)}, 2e5 * (1 + draw.uniform(k))});
    Net b = a;
    const auto at = 2 + draw.below(99, a.size() - 2);
    b[at].ns += 3e6, b[at].note = "waits for rank 3";
    auto left = measured(a, seed, 0, 12), right = measured(b, seed, 1, 12);
    left.ordered = right.ordered = false;
    const auto one = explain(left, right);
    expect_sums(one, left, right);
    ASSERT_FALSE(one.rows.empty()) << one.no_claim;
    EXPECT_EQ(one.rows[0].what, "all-reduce of " + a[at].is.shape);
    EXPECT_EQ(one.rows[0].cause, "waits for rank 3");
  }
}

TEST(Explanation, NamesAnotherNumberOfCalls) {
  named_first_in_all([](Net& b, std::size_t at) { b[at].calls = 3, b[at].ns *= 3; },
                     [](const DifferenceRow& row, const Net&, std::size_t) {
                       EXPECT_EQ(row.change, Change::kCalls);
                       EXPECT_EQ(row.cause, "3 calls instead of 1");
                     });
}

TEST(Explanation, ShowsTimeInNoPart) {
  const Net net = net_of(3);
  const auto a = measured(net, 3, 0);
  auto b = measured(net, 3, 1);
  double whole = 0;
  for (const auto& layer : net) whole += layer.ns;
  for (double& ns : b.total_ns) ns += whole;
  const auto one = explain(a, b);
  expect_sums(one, a, b);
  EXPECT_EQ(one.first_cause(), nullptr);
  EXPECT_EQ(one.rows.back().change, Change::kUnexplained);
  EXPECT_NEAR(one.rows.back().difference_ns, whole, 0.001 * whole);
  EXPECT_NEAR(*one.rows.back().share, 1, 0.02);
}

// A lower clock slows all layers a little: none is named, and the rest says so.
TEST(Explanation, SaysThatAllPartsAreSlower) {
  const Net a = net_of(5);
  Net b = a;
  for (auto& layer : b) layer.ns *= 1.015;
  const auto one = between(a, b, 5);
  ASSERT_EQ(one.no_claim, "");
  ASSERT_GE(one.rows.size(), 2U);
  const auto& rest = one.rows[one.rows.size() - 2];
  EXPECT_EQ(rest.change, Change::kRest);
  EXPECT_THAT(rest.cause, HasSubstr("pairs are slower, in the middle by 1."));
}

TEST(Explanation, ClaimsNothingBelowSixTimes) {
  const Net a = net_of(4);
  Net b = a;
  b[0].ns *= 10;
  const auto one = explain(measured(a, 4, 0, 5), measured(b, 4, 1));
  EXPECT_EQ(one.no_claim, "A has 5 inferences: at least 6 are needed");
  EXPECT_TRUE(one.rows.empty());
  EXPECT_TRUE(one.to_ns);
  EXPECT_EQ(explain(measured(a, 4, 0, 6), measured(b, 4, 1, 6)).no_claim, "");
}

TEST(Explanation, ClaimsNothingWithoutParts) {
  const auto a = measured(net_of(4), 4, 0);
  TimedParts b{
      .total_ns = a.total_ns, .unit_words = "inference", .missing = "no layer profile was asked for"};
  EXPECT_EQ(explain(a, b).no_claim, "B: no layer profile was asked for");
  EXPECT_EQ(explain({.unit_words = "step"}, a).no_claim, "A has no parts with times");
}

// Parts without times, or with too few, are in the unexplained rest.
TEST(Explanation, LeavesOutPartsWithoutTimes) {
  const Net a = net_of(6);
  Net slow = a;
  slow[long_conv(a, 0)].ns *= 2;
  const auto left = measured(a, 6, 0);
  auto right = measured(slow, 6, 1);
  right.parts[1].times_ns.clear();
  right.parts[2].times_ns.resize(2);
  const auto one = explain(left, right);
  expect_sums(one, left, right);
  EXPECT_EQ(one.rows.front().what, a[long_conv(a, 0)].is.name);
}

TEST(Explanation, IntervalsOfManyIterationsKnowTheirDependence) {
  std::vector<double> drifting(200);
  const CounterRng noise(1, 2);
  for (std::size_t i = 1; i < drifting.size(); ++i) drifting[i] = 0.95 * drifting[i - 1] + noise.normal(i);
  TimedParts a{.parts = {{{"operator", "x"}, 1, drifting}}, .total_ns = drifting, .unit_words = "step"};
  auto b = a;
  const auto one = explain(a, b);
  ASSERT_TRUE(one.interval);
  const double independent = 2 * 1.97 * *stats::stddev(drifting) / std::sqrt(100.0);
  EXPECT_GT(one.interval->high - one.interval->low, 2 * independent);
}

TEST(Explanation, ThreeThousandLayers) {
  Net a;
  for (int i = 0; i < 3000; ++i)
    a.push_back({{i % 2 ? "Relu" : "Conv", fmt::format("layer{}", i)}, 1e4 + 1000.0 * (i % 13)});
  Net b = a;
  b[1500].ns *= 40;
  const auto left = measured(a, 1, 0), right = measured(b, 1, 1);
  const auto begin = std::chrono::steady_clock::now();
  const auto one = explain(left, right);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("3000 layers explained in %.3f s\n", took.count());
  ASSERT_FALSE(one.rows.empty()) << one.no_claim;
  EXPECT_EQ(one.rows.front().what, "layer1500");
  expect_sums(one, left, right);
}

}  // namespace
}  // namespace paceline::analysis::difference
