// SPDX-License-Identifier: MIT
#include "result/stored/layers.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"

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
  std::vector<LayerRow> rows{{"a,b", "Co\"nv", "fp32", "x", 5.0, {}, {4, 5.5, 6}},
                             row("d", Number::missing("no time"))};
  summarize_layers(rows, 5.0);
  EXPECT_EQ(layers_to_csv(rows),
            "index,name,type,precision,model_layer,time_ns,share,times_ns\n"
            "0,\"a,b\",\"Co\"\"nv\",fp32,x,5,1,4 5.5 6\n"
            "1,d,Conv,fp32,,,,\n");
}

std::vector<LayerRow> read_text(const std::string& text) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "layers.csv";
  replace_file(path, text);
  return read_layers_csv(path);
}

TEST(Layers, AFileIsReadBack) {
  std::vector<LayerRow> rows{{"a,b\n\"c\"", "=SUM(1)", "fp32", "x", 5.0, {}, {4, 5.5, 6}},
                             row("d", Number::missing("no time"))};
  summarize_layers(rows, 5.0);
  const auto back = read_text(layers_to_csv(rows));
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].name, rows[0].name);
  EXPECT_EQ(back[0].type, rows[0].type);
  EXPECT_EQ(back[0].time_ns, rows[0].time_ns);
  EXPECT_EQ(back[0].times_ns, rows[0].times_ns);
  EXPECT_FALSE(back[1].time_ns);
  EXPECT_TRUE(back[1].times_ns.empty());
}

TEST(Layers, AnOlderFileHasNoTimesOfProfiles) {
  const auto rows = read_text("index,name,type,precision,model_layer,time_ns,share\n0,a,Conv,fp32,x,5,1\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].time_ns, Number(5.0));
  EXPECT_TRUE(rows[0].times_ns.empty());
}

TEST(Layers, AnotherFileIsRefused) {
  EXPECT_THROW(read_text(""), Error);
  EXPECT_THROW(read_text("index,name,calls\n0,a,1\n"), Error);
  const std::string head = "index,name,type,precision,model_layer,time_ns,share,times_ns\n";
  EXPECT_THROW(read_text(head + "0,a,Conv\n"), Error);
  EXPECT_THROW(read_text(head + "0,a,Conv,fp32,x,fast,1,\n"), Error);
  EXPECT_THROW(read_text(head + "0,a,Conv,fp32,x,5,1,4 x\n"), Error);
}

TEST(Layers, ProfilesMergeToMedians) {
  const auto merged = merged_profiles({{row("other", 1.0)},
                                       {row("a", 10.0), row("b", Number::missing("no time"))},
                                       {row("a", 30.0), row("b", 2.0)},
                                       {row("a", 14.0), row("b", Number::missing("no time"))}});
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].times_ns, (std::vector<double>{10, 30, 14}));
  EXPECT_EQ(merged[0].time_ns, Number(14.0));
  EXPECT_EQ(merged[1].time_ns, Number(2.0));
  EXPECT_TRUE(merged_profiles({}).empty());
}

// ONNX Runtime orders branches, and numbers the conversions that it adds, in another way in each session.
TEST(Layers, ProfilesMergeWhateverTheOrderOfLayers) {
  const auto made = [](const std::string& name, double ns) {
    return LayerRow{name, "ReorderOutput", "fp32", "", ns, {}};
  };
  const auto merged =
      merged_profiles({{row("a", 1.0), made("token_7", 10.0), row("b", 3.0), made("token_9", 20.0)},
                       {row("b", 4.0), made("token_1", 11.0), made("token_2", 21.0), row("a", 2.0)}});
  ASSERT_EQ(merged.size(), 4U);
  EXPECT_EQ(merged[0].times_ns, (std::vector<double>{3, 4}));
  EXPECT_EQ(merged[1].times_ns, (std::vector<double>{10, 11}));
  EXPECT_EQ(merged[2].times_ns, (std::vector<double>{20, 21}));
  EXPECT_EQ(merged[3].times_ns, (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace paceline::result
