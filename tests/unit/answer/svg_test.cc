// SPDX-License-Identifier: MIT
#include "answer/render/svg.h"

#include <gtest/gtest.h>

#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <limits>
#include <sstream>

#include "answer/render/ticks.h"
#include "support/words.h"

namespace paceline::answer {
namespace {

using test::count;
using test::expect_words;

std::vector<std::string> texts(const Axis& axis, double low, double high, int most) {
  std::vector<std::string> all;
  for (const auto& tick : ticks_of(axis, low, high, most)) all.push_back(tick.text);
  return all;
}

// Throws where the text is no XML.
boost::property_tree::ptree parsed(const std::string& svg) {
  std::istringstream in(svg);
  boost::property_tree::ptree tree;
  boost::property_tree::read_xml(in, tree);
  return tree;
}

Plot two_points() {
  Plot plot{.x = {.title = "ranks"}, .y = {.title = "images/s"}};
  plot.lines.push_back({.points = {{.x = 1, .y = 10, .y_low = 9, .y_high = 11}, {.x = 2, .y = 18}},
                        .colour = "c0",
                        .mark = Line::Mark::kCircle,
                        .name = "resnet50"});
  return plot;
}

TEST(Ticks, AreRoundNumbersWithTheDigitsTheyNeed) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts({}, 0, 10, 5), (Texts{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(texts({}, 0, 1, 5), (Texts{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(texts({}, -0.3, 0.31, 4), (Texts{"-0.2", "0.0", "0.2"}));
  EXPECT_EQ(texts({}, 0, 42'000, 3), (Texts{"0", "20 000", "40 000"}));
  EXPECT_EQ(texts({}, 0, 3e9, 3), (Texts{"0", "1e+09", "2e+09", "3e+09"}));
  EXPECT_EQ(texts({.numbers = Axis::Numbers::kPercent}, 0, 1, 4), (Texts{"0", "50", "100"}));
  EXPECT_EQ(texts({.scale = Axis::Scale::kLog10}, 0.5, 120, 9),
            (Texts{"0.5", "1", "2", "5", "10", "20", "50", "100"}));
  EXPECT_EQ(texts({.scale = Axis::Scale::kLog10}, 1, 1e6, 8),
            (Texts{"1", "10", "100", "1000", "10000", "100000", "1e+06"}));
  EXPECT_EQ(texts({.scale = Axis::Scale::kDoubling}, 1, 16, 8), (Texts{"1", "2", "4", "8", "16"}));
  EXPECT_EQ(texts({.scale = Axis::Scale::kDoubling, .numbers = Axis::Numbers::kBytes}, 4, 64 << 20, 7),
            (Texts{"16 B", "256 B", "4 KiB", "64 KiB", "1 MiB", "16 MiB"}));
  EXPECT_EQ(texts({.ticks = {1, 3, 12}}, 0, 4, 9), (Texts{"1", "3"}));
  EXPECT_EQ(texts({}, 5, 5, 5), (Texts{"5"}));
  EXPECT_TRUE(log_ticks(0, 10, 5).empty());
}

// Each of them went on for ever, or until memory ended.
TEST(Ticks, EndForNumbersThatNoFigureHas) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(log_ticks(1, kInfinite, 5).empty());
  EXPECT_LE(log_ticks(1, 1.7e308, 5).size(), 310U);
  EXPECT_LE(log_ticks(5e-324, 1, 5).size(), 330U);
  EXPECT_LE(linear_ticks(1e300, std::nextafter(1e300, 1e301), 5).size(), 10U);
  EXPECT_EQ(linear_ticks(-1.7e308, 1.7e308, 5).size(), 1U);
}

TEST(Svg, AFigureThatIsDamagedStandsAtTheEdge) {
  Plot plot = two_points();
  for (const auto scale : {Axis::Scale::kLinear, Axis::Scale::kLog10, Axis::Scale::kDoubling}) {
    plot.y.scale = scale;
    plot.lines[0].points[1].y = 1e306;
    EXPECT_LT(svg_of(plot, {.standalone = true}).size(), 100'000U);
  }
}

TEST(Svg, IsXmlWithHintsAndTheSameTwice) {
  Plot plot = two_points();
  plot.title = "<b>\"5\" & 6</b>\x01\xff";
  plot.lines[0].points[0].hint = "1 rank: 10 images/s & more";
  const auto svg = svg_of(plot, {.standalone = true});
  const auto tree = parsed(svg);
  EXPECT_EQ(tree.get<std::string>("svg.<xmlattr>.role"), "img");
  EXPECT_EQ(svg, svg_of(plot, {.standalone = true}));
  expect_words(svg, {"<title>1 rank: 10 images/s &amp; more</title>"});
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_EQ(svg.find("var(--"), std::string::npos) << "a file has colours, no variables";
  EXPECT_EQ(svg.find("http", svg.find("xmlns") + 40), std::string::npos) << "nothing is fetched";
  EXPECT_EQ(svg_of(plot).find("<style>"), std::string::npos) << "the page has its own";
}

TEST(Svg, NumbersStandWhereTheAxisSays) {
  Plot plot{.x = {.low = 0, .high = 10}, .y = {.low = 0, .high = 10}, .height = 100};
  plot.rectangles = {{0, 5, 0, 10, "c0", {}}};
  // 8 above; "10" and the margin left, 16 right.
  expect_words(svg_of(plot, {.width = 142.2}),
               {"<g class=\"area c0\"><path d=\"M26.2 108h50v-100h-50z\"/></g>"});
}

TEST(Svg, MissingValuesAreNotDrawn) {
  Plot plot = two_points();
  plot.lines[0].points.push_back({.x = 3, .y = kMissing, .y_low = 1, .y_high = 2});
  plot.lines[0].points.push_back({.x = 4, .y = 30});
  const auto svg = svg_of(plot);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(count(svg, "a4 4 0 1 0 8 0"), 4U) << "three marks, and one in the legend";
  const auto line = svg.substr(svg.find("class=\"line c0\""));
  EXPECT_EQ(count(line.substr(0, line.find("/>")), "M"), 2U) << "the line is interrupted";
  EXPECT_EQ(svg_of({}), "");
  plot.lines[0].points = {{.x = kMissing, .y = kMissing}};
  EXPECT_EQ(svg_of(plot), "");
}

TEST(Svg, ALogarithmicAxisHasNoZero) {
  Plot plot{.x = {.scale = Axis::Scale::kDoubling}};
  plot.lines.push_back({.points = {{0, 1}, {1, 2}, {4, 3}}, .mark = Line::Mark::kSquare});
  const auto svg = svg_of(plot);
  EXPECT_EQ(count(svg, "h7.2v7.2"), 2U);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  parsed(svg);
}

TEST(Svg, LabelsDoNotCoverEachOther) {
  Plot plot{.x = {.categories = {}}};
  plot.lines.push_back({.points = {}});
  for (int i = 0; i < 300; ++i) {
    plot.x.categories.push_back("batch " + std::to_string(i));
    plot.lines[0].points.push_back({.x = static_cast<double>(i), .y = 1, .text = "b" + std::to_string(i)});
  }
  const auto svg = svg_of(plot, {.width = 500});
  EXPECT_LT(count(svg, ">batch "), 10U);
  EXPECT_LT(count(svg, "class=\"middle value\""), 25U);
  EXPECT_GT(count(svg, "class=\"middle value\""), 8U);
}

TEST(Svg, ATextRightOfItsPointIsRaisedAboveMarksThatItWouldCross) {
  Plot plot{.x = {.low = 0, .high = 10}, .y = {.low = 0, .high = 10}, .height = 100};
  plot.lines.push_back(
      {.points = {{.x = 1, .y = 5, .x_low = 0.5, .x_high = 2, .text = "best"}}, .text = Line::Text::kRight});
  const auto place = [&] {
    const auto svg = svg_of(plot, {.width = 400});
    const auto end = svg.find(">best<");
    return svg.substr(svg.rfind("<text", end), end - svg.rfind("<text", end));
  };
  const auto alone = place();
  plot.lines.push_back({.points = {{.x = 6, .y = 5.2, .x_low = 1.5, .x_high = 9}}});
  const auto crossed = place();
  plot.lines[1].points[0].y = 9;
  EXPECT_EQ(place(), alone);
  EXPECT_NE(alone.find("y=\"62\""), std::string::npos) << alone;
  EXPECT_NE(crossed.find("y=\"50\""), std::string::npos) << crossed;
}

TEST(Svg, PointsWithoutHintsAreOnePath) {
  Plot plot;
  plot.lines.push_back({.points = {}, .stroke = Line::Stroke::kHidden, .mark = Line::Mark::kDot});
  for (int i = 0; i < 2000; ++i)
    plot.lines[0].points.push_back({.x = static_cast<double>(i), .y = i % 17 * 1.0});
  const auto svg = svg_of(plot);
  EXPECT_EQ(count(svg, "class=\"dot"), 1U);
  EXPECT_LT(svg.size(), 2000U * 16 + 4000);
}

TEST(Svg, ALineOfBandsIsShadedBetweenItsIntervals) {
  Plot plot = two_points();
  plot.lines[0].band = true;
  plot.lines[0].stroke = Line::Stroke::kDashed;
  plot.lines[0].points[1].y_low = 15, plot.lines[0].points[1].y_high = 21;
  const auto svg = svg_of(plot);
  EXPECT_EQ(count(svg, "class=\"band c0\""), 2U) << "and its sample in the legend";
  EXPECT_EQ(count(svg, "class=\"line dashed c0\""), 2U);
  EXPECT_EQ(count(svg, "whisker"), 0U);
}

}  // namespace
}  // namespace paceline::answer
