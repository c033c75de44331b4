// SPDX-License-Identifier: MIT
#include "support/layer_medians.h"

#include <gtest/gtest.h>

namespace paceline::plugin_support {
namespace {

using Layers = std::vector<plugin::Layer>;

plugin::Layer layer(const std::string& name, std::optional<double> time_ns) {
  return {name, "Conv", "fp32", time_ns, {}};
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({9, 1, 4, 2}), 3);
}

// A preempted inference multiplied a layer's mean by ten; its median stays.
TEST(LayerMedians, OneOutlierChangesNothing) {
  std::vector<Layers> inferences(20, {layer("a", 100), layer("b", 10)});
  const auto calm = with_median_times(inferences);
  inferences[7][1].time_ns = 4e6;
  const auto disturbed = with_median_times(inferences);
  ASSERT_EQ(disturbed.size(), 2U);
  EXPECT_EQ(disturbed[0].time_ns, calm[0].time_ns);
  EXPECT_EQ(disturbed[1].time_ns, 10);
}

TEST(LayerMedians, EachLayerHasAMedianOfItsOwn) {
  const auto layers = with_median_times(
      {{layer("a", 1), layer("b", 30)}, {layer("a", 3), layer("b", 10)}, {layer("a", 2), layer("b", 20)}});
  EXPECT_EQ(layers.at(0).time_ns, 2);
  EXPECT_EQ(layers.at(1).time_ns, 20);
}

TEST(LayerMedians, InferencesThatRanOtherLayersDoNotCount) {
  const auto layers = with_median_times(
      {{layer("a", 900), layer("x", 900)}, {layer("a", 1)}, {layer("x", 900)}, {layer("a", 3)}});
  ASSERT_EQ(layers.size(), 1U);
  EXPECT_EQ(layers[0].name, "a");
  EXPECT_EQ(layers[0].time_ns, 2);
}

TEST(LayerMedians, ATimeThatIsMissingIsNotZero) {
  const auto layers = with_median_times(
      {{layer("a", 4), layer("b", std::nullopt)}, {layer("a", std::nullopt), layer("b", std::nullopt)}});
  EXPECT_EQ(layers.at(0).time_ns, 4);
  EXPECT_EQ(layers.at(1).time_ns, std::nullopt);
}

TEST(LayerMedians, NoInferencesAreNoLayers) {
  EXPECT_TRUE(with_median_times({}).empty());
}

}  // namespace
}  // namespace paceline::plugin_support
