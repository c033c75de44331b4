// SPDX-License-Identifier: MIT
#include "result/stored/layers.h"

#include <gtest/gtest.h>

namespace paceline::result {
namespace {

LayerRow row(const std::string& name, Number time) {
  return {name, "Conv", "fp32", "", std::move(time), {}};
}

TEST(Layers, SharesAddUpAndTheLongestComeFirst) {
  std::vector<LayerRow> rows{row("a", 20.0), row("b", 60.0), row("c", 20.0),
                             row("d", Number::missing("no time"))};
  const auto profile = summarize_layers(rows, 80.0);
  EXPECT_EQ(*profile.sum_ns, 100);
  EXPECT_EQ(*profile.of_latency, 1.25);
  EXPECT_EQ(*profile.layers, 4);
  ASSERT_EQ(profile.top.size(), 4U);
  EXPECT_EQ(profile.top[0].name, "b");
  EXPECT_EQ(*profile.top[0].share, 0.6);
  EXPECT_EQ(profile.top[1].name, "a");  // in order where equal
  EXPECT_EQ(profile.top[3].name, "d");
  EXPECT_EQ(profile.top[3].share.reason(), "no time");
  EXPECT_EQ(*rows[2].share, 0.2);
}

TEST(Layers, TenAreEnough) {
  std::vector<LayerRow> rows;
  for (int i = 0; i < 30; ++i) rows.push_back(row("l" + std::to_string(i), i + 1.0));
  const auto profile = summarize_layers(rows, Number::missing("no latency"));
  EXPECT_EQ(profile.top.size(), 10U);
  EXPECT_EQ(profile.top.front().name, "l29");
  EXPECT_EQ(profile.of_latency.reason(), "no latency");
}

TEST(Layers, NoTimesAreAReasonAndNotZero) {
  std::vector<LayerRow> rows{row("a", Number::missing("no time"))};
  const auto profile = summarize_layers(rows, 80.0);
  EXPECT_FALSE(profile.sum_ns);
  EXPECT_EQ(profile.reason, "the engine reported no times");
  EXPECT_TRUE(profile.top.empty());
  rows = {row("a", 0.0), row("b", 0.0)};
  EXPECT_EQ(summarize_layers(rows, 80.0).reason, "every layer is too short for the engine's clock");
}

TEST(Layers, NamesFromUsersStayOneCell) {
  std::vector<LayerRow> rows{{"a,b", "Co\"nv", "fp32", "x", 5.0, {}}, row("d", Number::missing("no time"))};
  summarize_layers(rows, 5.0);
  EXPECT_EQ(layers_to_csv(rows),
            "index,name,type,precision,model_layer,time_ns,share\n"
            "0,\"a,b\",\"Co\"\"nv\",fp32,x,5,1\n"
            "1,d,Conv,fp32,,,\n");
}

}  // namespace
}  // namespace paceline::result
