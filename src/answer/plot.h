// SPDX-License-Identifier: MIT
#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

// A chart as plain data: two axes, rectangles, and lines of points. Every kind of chart is made of these.
namespace paceline::answer {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();  // nothing is drawn for it
inline constexpr double kEndless = std::numeric_limits<double>::infinity();   // reaches the edge of the plot

// Colours are names in page/style.css: c0 to c6 tell series apart, h1 to h8 grow from little to much.
inline std::string series_colour(std::size_t index) {
  return "c" + std::to_string(index % 7);
}

struct Axis {
  enum class Scale { kLinear, kLog10, kDoubling };
  enum class Numbers { kPlain, kBytes, kPercent };
  std::string title{};
  Scale scale = Scale::kLinear;
  Numbers numbers = Numbers::kPlain;
  std::vector<std::string> categories{};   // at 0, 1, …; of a vertical axis the first is on top
  std::vector<double> ticks{};             // empty: chosen
  bool from_zero = true;                   // of a linear axis
  bool whole = false;                      // it counts: no fractions
  double low = kMissing, high = kMissing;  // at least as wide as this
};

// In numbers of the axes; the interval of a category i is i - 0.5 to i + 0.5.
struct Rectangle {
  double x_from, x_to, y_from, y_to;
  std::string colour;
  std::string hint{};  // shown when pointed at
};

struct Point {
  double x, y;
  double x_low = kMissing, x_high = kMissing, y_low = kMissing, y_high = kMissing;  // its interval
  std::string hint{};
  std::string text{};  // beside it
  bool hollow = false;
  bool goes_on = false;  // x_high is where the plot cuts its interval off, with an arrow
};

struct Line {
  enum class Stroke { kHidden, kSolid, kDotted, kDashed };
  enum class Mark { kHidden, kDot, kCircle, kSquare, kDiamond, kTriangle, kCross };
  enum class Text { kAbove, kRight };
  std::vector<Point> points;  // a missing one interrupts it
  std::string colour = "ink";
  Stroke stroke = Stroke::kSolid;
  Mark mark = Mark::kHidden;
  bool band = false;  // intervals are a shade, not whiskers
  Text text = Text::kAbove;
  std::string name{};  // in the legend; empty: not there
};
Line::Mark series_mark(std::size_t index);

struct LegendEntry {
  std::string name, colour;
};

struct Plot {
  std::string title{};        // above it, where several stand together
  std::string description{};  // for those who do not see it
  Axis x{}, y{};
  std::vector<Rectangle> rectangles{};
  std::vector<Line> lines{};
  std::vector<LegendEntry> legend{};  // of rectangles; lines have their names
  double height = 0;                  // of the area without its axes; 0: chosen
  std::string name{};                 // of its file, after that of its chart
};
using Plots = std::vector<Plot>;

}  // namespace paceline::answer
