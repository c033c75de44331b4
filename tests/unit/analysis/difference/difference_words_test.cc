// SPDX-License-Identifier: MIT
#include "analysis/difference/difference_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synthetic_net.h"

namespace paceline::analysis::difference {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// conv4 takes 1 ms in A, and 4.1 ms in fp32 in B; a pool is 0.3 ms slower, and one is gone.
Explanation example() {
  const Net a{
      {{"Conv", "conv3", {}, "int8"}, 1e6}, {{"Conv", "conv4", {}, "int8"}, 1e6}, {{"Pool", "pool"}, 5e5}};
  Net b = a;
  b[1].is.precision = "fp32", b[1].ns = 4.1e6, b[2].ns = 8e5;
  return explain(measured(a, 1, 0, 12), measured(b, 1, 1, 12));
}

TEST(DifferenceWords, TheSentenceNamesPartSizeIntervalAndCause) {
  const auto words = sentence_of(example());
  EXPECT_THAT(words, StartsWith("conv4 takes 3."));
  EXPECT_THAT(words, HasSubstr(" ms more ("));
  EXPECT_THAT(words, HasSubstr("of the 3."));
  EXPECT_THAT(words, HasSubstr("; it ran in fp32 instead of int8"));
}

TEST(DifferenceWords, TheTableEndsWithTheRestAndTheWhole) {
  const auto sections = sections_of(example());
  ASSERT_EQ(sections.size(), 1U);
  const auto& rows = sections[0].table.rows;
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].cells[0].text, "conv4");
  EXPECT_EQ(rows[1].cells[0].text, "all other parts");
  EXPECT_EQ(rows[2].cells[0].text, "in no part");
  EXPECT_EQ(rows[3].cells[0].text, "the whole inference");
  for (const auto& row : rows) EXPECT_EQ(row.cells.size(), sections[0].table.heads.size());
  EXPECT_EQ(rows[0].cells.back().text, "precision; it ran in fp32 instead of int8");
  EXPECT_EQ(rows[0].cells.back().brief, "precision;");  // begins the text, as narrow terminals need it
}

TEST(DifferenceWords, TheWaterfallEndsAtTheWholeDifference) {
  const auto one = example();
  const auto plot = sections_of(one)[0].chart.plots.at(0);
  ASSERT_EQ(plot.rectangles.size(), one.rows.size());
  EXPECT_EQ(plot.y.categories.size(), one.rows.size());
  const auto& last = plot.lines.at(0).points.back();
  EXPECT_NEAR(last.x, one.difference_ns * 1e-6, 1e-9);
  EXPECT_LE(last.x_low, last.x);
  EXPECT_GE(last.x_high, last.x);
}

TEST(DifferenceWords, FiguresForProgramsAddUp) {
  const auto json = json_of(example());
  double sum = 0;
  for (const auto& row : json["rows"]) sum += row["difference_ns"].get<double>();
  EXPECT_NEAR(sum, json["difference_ns"].get<double>(), 1);
  EXPECT_EQ(json["rows"][0]["change"], "precision");
  EXPECT_GE(json["explained_share"].get<double>(), 0.9);
}

TEST(DifferenceWords, AVanishedPartHasNoNumberOnItsSide) {
  const Net a{{{"Conv", "x"}, 1e6}, {{"Softmax", "y"}, 2e6}};
  const auto one = explain(measured(a, 1, 0), measured({a[0]}, 1, 1));
  const auto json = json_of(one);
  EXPECT_TRUE(json["rows"][0]["to_ns"].is_null());
  EXPECT_EQ(json["rows"][0]["to_ns_reason"], "this side does not have it");
  EXPECT_THAT(sentence_of(one), StartsWith("y is gone, which takes "));
  EXPECT_THAT(sentence_of(one), HasSubstr("less"));
  EXPECT_EQ(sections_of(one)[0].table.rows[0].cells[2].text, answer::kNone);
}

// All parts are slower by 15 %, one by 40 %: the machine is the reason, not that part.
TEST(DifferenceWords, APartBesideASlowerMachineIsNotTheReason) {
  const Net a = net_of(7);
  Net b = a;
  for (auto& layer : b) layer.ns *= 1.15;
  b[0].ns = a[0].ns * 1.4;
  auto left = measured(a, 7, 0), right = measured(b, 7, 1);
  for (auto* side : {&left, &right})
    for (auto& part : side->parts)
      if (&part != &side->parts[0])
        for (std::size_t i = 0; i < kIterations; ++i) part.times_ns[i] *= i % 2 ? 1.6 : 0.4;
  const auto one = explain(left, right);
  ASSERT_NE(one.first_cause(), nullptr);
  EXPECT_THAT(sentence_of(one), StartsWith("no single part explains most of the "));
  EXPECT_THAT(sentence_of(one), HasSubstr("pairs are slower, in the middle by 1"));
  EXPECT_THAT(sentence_of(one), HasSubstr("; the largest: layer0.conv takes "));
}

TEST(DifferenceWords, ALayerOfTheModelIsNamedByIt) {
  const Net a{{{"Conv", "conv_nchwc", "stem.conv"}, 1e6}};
  Net b{{{"FusedConv", "fused_3", "stem.conv"}, 2e6}};
  const auto words = sentence_of(explain(measured(a, 1, 0), measured(b, 1, 1)));
  EXPECT_THAT(words, StartsWith("stem.conv takes "));
  EXPECT_THAT(words, HasSubstr("; FusedConv instead of Conv"));
  EXPECT_EQ(words.find("another name"), std::string::npos);
}

TEST(DifferenceWords, APartThatCostsMoreThanTheWholeIsNotOfIt) {
  const Net a{{{"Conv", "x"}, 1e6}, {{"Softmax", "y"}, 5e6}};
  Net b = a;
  b[0].ns = 4e6, b[1].ns = 4e6;
  EXPECT_THAT(sentence_of(explain(measured(a, 1, 0), measured(b, 1, 1))),
              HasSubstr("), the whole inference 2."));
}

TEST(DifferenceWords, NothingToExplainIsAParagraph) {
  const Net net = net_of(2);
  const auto one = explain(measured(net, 2, 0), measured(net, 2, 0));
  const auto sections = sections_of(one);
  EXPECT_THAT(sections[0].paragraphs.at(0), HasSubstr("nothing to explain"));
  EXPECT_TRUE(sections[0].table.rows.empty());
  EXPECT_FALSE(finding_of(one));
  EXPECT_TRUE(json_of(one)["explained_share"].is_null());
}

TEST(DifferenceWords, TheFindingSaysHowMuchIsExplained) {
  const auto finding = finding_of(example());
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->text, StartsWith("conv4 takes"));
  EXPECT_THAT(finding->evidence, HasSubstr("% of the difference is explained"));
}

}  // namespace
}  // namespace paceline::analysis::difference
