// SPDX-License-Identifier: MIT
#include "answer/render/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "answer/render/escape.h"
#include "answer/render/page.h"
#include "answer/render/ticks.h"
#include "answer/text_layout.h"

namespace paceline::answer {
namespace {

constexpr double kCharacter = 7.1, kRow = 26, kLine = 20, kHeight = 260;  // at a font size of 12
constexpr double kLargestDrawn = 1e100;  // a stored figure beyond it is damaged; it stands at the edge
constexpr double kMost = 0.4;            // of the width, for the names of rows

// One decimal is a tenth of a point.
std::string px(double v) {
  std::string text = fmt::format("{:.1f}", v);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

double width_of(std::string_view text) {
  return static_cast<double>(display_width(text)) * kCharacter;
}

struct Range {
  double low = kEndless, high = -kEndless;
  void add(double value, bool positive) {
    if (!(std::abs(value) <= kLargestDrawn) || (positive && value <= 0)) return;
    low = std::min(low, value), high = std::max(high, value);
  }
  [[nodiscard]] bool empty() const { return low > high; }
};

Range data_range(const Plot& plot, bool across) {
  const Axis& axis = across ? plot.x : plot.y;
  const bool positive = axis.scale != Axis::Scale::kLinear;
  Range range;
  for (const auto& r : plot.rectangles)
    for (const double value : {across ? r.x_from : r.y_from, across ? r.x_to : r.y_to})
      range.add(value, positive);
  for (const auto& line : plot.lines)
    for (const auto& p : line.points)
      for (const double value :
           {across ? p.x : p.y, across ? p.x_low : p.y_low, across ? p.x_high : p.y_high})
        range.add(value, positive);
  return range;
}

// Range of the axis; ends that it asks for stay as they are, others get room.
Range domain(const Axis& axis, Range data) {
  if (!axis.categories.empty()) return {-0.5, static_cast<double>(axis.categories.size()) - 0.5};
  const bool linear = axis.scale == Axis::Scale::kLinear;
  data.add(axis.low, !linear), data.add(axis.high, !linear);
  if (linear && axis.from_zero) data.add(0, false);
  if (data.low == data.high)
    linear ? (data.low -= data.low == 0 ? 0 : 0.5, data.high += data.low == 0 ? 1 : 0.5)
           : (data.low /= 1.5, data.high *= 1.5);
  const bool open_low = data.low != axis.low && !(linear && axis.from_zero && data.low == 0);
  const bool open_high = data.high != axis.high && !(linear && axis.from_zero && data.high == 0);
  const double room = linear ? (data.high - data.low) * 0.04 : std::pow(data.high / data.low, 0.04);
  if (open_low) data.low = linear ? data.low - room : data.low / room;
  if (open_high) data.high = linear ? data.high + room : data.high * room;
  return data;
}

// From numbers of an axis to places in the picture.
struct Scale {
  bool log = false;
  Range range{};
  double from = 0, to = 1;
  [[nodiscard]] double operator()(double value) const {
    value = std::clamp(value, range.low, range.high);
    const double part = log ? std::log(value / range.low) / std::log(range.high / range.low)
                            : (value - range.low) / (range.high - range.low);
    return from + part * (to - from);
  }
};

struct Legend {
  const LegendEntry* entry;
  const Line* line;  // null: of rectangles
  double x = 0;
  std::size_t row = 0;
};

class Drawing {
 public:
  Drawing(const Plot& plot, const SvgOptions& options) : plot_(plot), width_(options.width) {
    for (const auto& line : plot.lines)
      if (!line.name.empty()) names_.push_back({line.name, line.colour});
    lay_out();
  }
  std::string text(const SvgOptions& options);

 private:
  struct Box {  // of a text; y is its base line
    double x_from, x_to, y;
  };
  void lay_out();
  void lay_out_legend();
  [[nodiscard]] std::vector<Tick> ticks(const Axis& axis, const Scale& scale, double room) const;
  [[nodiscard]] double room_right() const;
  void draw_title();
  void draw_y_axis();
  void draw_x_axis();
  void draw_axis_titles();
  void draw_rectangles();
  void draw_band(const Line& line);
  void draw_line(const Line& line);
  void draw_whiskers(const Line& line);
  void draw_marks(const Line& line);
  [[nodiscard]] bool crosses_a_mark(const Box& text) const;
  [[nodiscard]] Box place_of(const Point& p, const Line& line) const;
  void draw_texts(const Line& line);
  void draw_legend();
  [[nodiscard]] bool shows(const Point& p) const;
  void look(const std::string& css);
  void put_text(double x, double y, std::string_view text, const std::string& css = {});
  void put_path(const std::string& css, const std::string& d, const std::string& hint = {});

  const Plot& plot_;
  double width_, left_ = 0, right_ = 0, top_ = 0, bottom_ = 0, height_ = 0;
  Scale x_{}, y_{};
  std::vector<Tick> x_ticks_, y_ticks_;
  std::vector<LegendEntry> names_;
  std::vector<Legend> legend_;
  std::vector<Box> texts_;
  std::string look_;  // of the open group
  std::string out_;
};

std::vector<Tick> Drawing::ticks(const Axis& axis, const Scale& scale, double room) const {
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < axis.categories.size(); ++i)
    ticks.push_back({static_cast<double>(i), axis.categories[i]});
  if (!ticks.empty()) return ticks;
  const int most = std::max(2, static_cast<int>(std::abs(scale.to - scale.from) / room));
  return ticks_of(axis, scale.range.low, scale.range.high, most);
}

// Room for texts right of points.
double Drawing::room_right() const {
  double room = 16;
  for (const auto& line : plot_.lines)
    for (const auto& p : line.points)
      if (line.text == Line::Text::kRight) room = std::max(room, width_of(p.text) + 14);
  return room;
}

void Drawing::lay_out() {
  const auto above = [](const Line& line) {
    return line.text == Line::Text::kAbove &&
           std::ranges::any_of(line.points, [](const Point& p) { return !p.text.empty(); });
  };
  top_ = (plot_.title.empty() ? 8 : 30) + (std::ranges::any_of(plot_.lines, above) ? 14 : 0);
  const auto rows = static_cast<double>(plot_.y.categories.size());
  height_ = plot_.height > 0 ? plot_.height : rows > 0 ? rows * kRow : kHeight;
  const bool named = rows > 0;
  y_ = {plot_.y.scale != Axis::Scale::kLinear, domain(plot_.y, data_range(plot_, false)),
        named ? top_ : top_ + height_, named ? top_ + height_ : top_};
  y_ticks_ = ticks(plot_.y, y_, 44);
  double labels = 0;
  for (const auto& tick : y_ticks_) labels = std::max(labels, width_of(tick.text));
  left_ = std::min(labels, kMost * width_) + 12 + (plot_.y.title.empty() ? 0 : kLine);
  right_ = width_ - room_right();
  x_ = {plot_.x.scale != Axis::Scale::kLinear, domain(plot_.x, data_range(plot_, true)), left_, right_};
  x_ticks_ = ticks(plot_.x, x_, 56);
  bottom_ = top_ + height_ + kLine + (plot_.x.title.empty() ? 0 : kLine);
  lay_out_legend();
}

void Drawing::lay_out_legend() {
  const auto add = [&](const LegendEntry& entry, const Line* line) {
    const double needed = width_of(entry.name) + 44;
    double x = legend_.empty() ? 8 : legend_.back().x + width_of(legend_.back().entry->name) + 44;
    std::size_t row = legend_.empty() ? 0 : legend_.back().row;
    if (x + needed > width_ && x > 8) x = 8, ++row;
    legend_.push_back({&entry, line, x, row});
  };
  for (const auto& entry : plot_.legend) add(entry, nullptr);
  std::size_t index = 0;
  for (const auto& line : plot_.lines)
    if (!line.name.empty()) add(names_[index++], &line);
}

bool Drawing::shows(const Point& p) const {
  return !std::isnan(p.x) && !std::isnan(p.y) && (!x_.log || p.x > 0) && (!y_.log || p.y > 0);
}

// Paths of one look that follow each other share it.
void Drawing::look(const std::string& css) {
  if (css == look_) return;
  if (!look_.empty()) out_ += "</g>";
  if (!css.empty()) out_ += fmt::format("<g class=\"{}\">", css);
  look_ = css;
}

void Drawing::put_text(double x, double y, std::string_view text, const std::string& css) {
  look({});
  out_ += fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>", px(x), px(y),
                      css.empty() ? "" : fmt::format(" class=\"{}\"", css), escape_xml(text));
}

void Drawing::put_path(const std::string& css, const std::string& d, const std::string& hint) {
  if (d.empty()) return;
  look(css);
  out_ += fmt::format("<path d=\"{}\"", d);
  out_ += hint.empty() ? "/>" : fmt::format("><title>{}</title></path>", escape_xml(hint));
}

void Drawing::draw_title() {
  if (plot_.title.empty()) return;
  const auto columns = static_cast<std::size_t>(width_ / kCharacter) - 2;
  put_text(8, 16, truncate(plot_.title, columns), "title");
}

// Labels that would overlap are left out; their line stays.
void Drawing::draw_y_axis() {
  const bool named = !plot_.y.categories.empty();
  const double room = left_ - 12 - (plot_.y.title.empty() ? 0 : kLine);
  std::string grid;
  double taken = -kEndless;
  for (const auto& tick : y_ticks_) {
    const double y = y_(tick.at);
    if (!named) grid += fmt::format("M{} {}H{}", px(left_), px(y), px(right_));
    if (std::abs(y - taken) < 13) continue;
    taken = y;
    put_text(left_ - 7, y + 4, truncate_middle(tick.text, static_cast<std::size_t>(room / kCharacter) + 1),
             named ? "end name" : "end");
  }
  put_path("grid", grid);
}

void Drawing::draw_x_axis() {
  const bool lines = plot_.x.categories.empty() && plot_.x.ticks.empty() && !plot_.x.whole;
  const double y = top_ + height_;
  std::string grid;
  double taken = -kEndless;
  for (const auto& tick : x_ticks_) {
    const double x = x_(tick.at), half = width_of(tick.text) / 2;
    grid += lines ? fmt::format("M{} {}V{}", px(x), px(top_), px(y)) : fmt::format("M{} {}v4", px(x), px(y));
    if (x - half < taken + 8) continue;
    taken = x + half;
    put_text(std::min(x, width_ - half), y + 16, tick.text, "middle");
  }
  put_path("grid", grid);
  put_path("edge", fmt::format("M{} {}H{}", px(left_), px(y), px(right_)));
}

void Drawing::draw_axis_titles() {
  if (!plot_.x.title.empty()) put_text((left_ + right_) / 2, top_ + height_ + 35, plot_.x.title, "middle");
  if (plot_.y.title.empty()) return;
  const double y = top_ + height_ / 2;
  look({});
  out_ += fmt::format("<text x=\"14\" y=\"{0}\" class=\"middle\" transform=\"rotate(-90 14 {0})\">{1}</text>",
                      px(y), escape_xml(plot_.y.title));
}

// Neighbours of one colour without hints are one path.
void Drawing::draw_rectangles() {
  std::string d;
  for (std::size_t i = 0; i < plot_.rectangles.size(); ++i) {
    const auto& r = plot_.rectangles[i];
    if (!std::isnan(r.x_from) && !std::isnan(r.x_to) && !std::isnan(r.y_from) && !std::isnan(r.y_to)) {
      const double x = x_(r.x_from), y = y_(r.y_from);
      d += fmt::format("M{} {}h{}v{}h{}z", px(x), px(y), px(x_(r.x_to) - x), px(y_(r.y_to) - y),
                       px(x - x_(r.x_to)));
    }
    const bool ends = i + 1 == plot_.rectangles.size() || !r.hint.empty() ||
                      !plot_.rectangles[i + 1].hint.empty() || plot_.rectangles[i + 1].colour != r.colour;
    if (!ends) continue;
    put_path("area " + r.colour, d, r.hint);
    d.clear();
  }
}

void Drawing::draw_band(const Line& line) {
  std::string forth, back;
  const auto close = [&] {
    if (!forth.empty()) put_path("band " + line.colour, "M" + forth.substr(1) + back + "z");
    forth.clear(), back.clear();
  };
  for (const auto& p : line.points) {
    if (!shows(p) || std::isnan(p.y_low) || std::isnan(p.y_high)) {
      close();
      continue;
    }
    forth += fmt::format("L{} {}", px(x_(p.x)), px(y_(p.y_high)));
    back.insert(0, fmt::format("L{} {}", px(x_(p.x)), px(y_(p.y_low))));
  }
  close();
}

void Drawing::draw_line(const Line& line) {
  static constexpr std::string_view kClasses[] = {"", "line", "line dotted", "line dashed"};
  if (line.stroke == Line::Stroke::kHidden) return;
  std::string d;
  bool joined = false;
  for (const auto& p : line.points) {
    if (shows(p)) d += fmt::format("{}{} {}", joined ? "L" : "M", px(x_(p.x)), px(y_(p.y)));
    joined = shows(p);
  }
  put_path(fmt::format("{} {}", kClasses[static_cast<std::size_t>(line.stroke)], line.colour), d);
}

void Drawing::draw_whiskers(const Line& line) {
  std::string d;
  for (const auto& p : line.points) {
    if (!shows(p)) continue;
    const double x = x_(p.x), y = y_(p.y);
    for (const double end : {p.y_low, p.y_high})
      if (!std::isnan(end)) d += fmt::format("M{} {}V{}m-3 0h6", px(x), px(y), px(y_(end)));
    for (const double end : {p.x_low, p.x_high}) {
      if (std::isnan(end)) continue;
      const bool cut = p.goes_on && end == p.x_high;
      d += fmt::format("M{} {}H{}{}", px(x), px(y), px(x_(end)), cut ? "m-5 -3l5 3l-5 3" : "m0 -3v6");
    }
  }
  put_path("whisker " + line.colour, d);
}

std::string outline(Line::Mark mark, double x, double y) {
  const auto from = [&](double dx, double dy, const char* rest) {
    return fmt::format("M{} {}{}", px(x + dx), px(y + dy), rest);
  };
  switch (mark) {
    case Line::Mark::kHidden:
      return {};
    case Line::Mark::kDot:
      return from(0, 0, "h0");
    case Line::Mark::kCircle:
      return from(-4, 0, "a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z");
    case Line::Mark::kSquare:
      return from(-3.6, -3.6, "h7.2v7.2h-7.2z");
    case Line::Mark::kDiamond:
      return from(0, -5, "l5 5l-5 5l-5 -5z");
    case Line::Mark::kTriangle:
      return from(0, -4.8, "l4.8 8.4h-9.6z");
    case Line::Mark::kCross:
      return from(-4, -4, "l8 8m0 -8l-8 8");
  }
  return {};
}

// Marks without a hint are one path.
void Drawing::draw_marks(const Line& line) {
  const std::string css = line.mark == Line::Mark::kDot ? "dot " : "mark ";
  std::string plain;
  for (const auto& p : line.points) {
    if (!shows(p)) continue;
    const auto d = outline(line.mark, x_(p.x), y_(p.y));
    if (p.hint.empty() && !p.hollow)
      plain += d;
    else
      put_path(css + (p.hollow ? "hollow " : "") + line.colour, d, p.hint);
  }
  put_path(css + line.colour, plain);
}

// Marks with their whiskers.
bool Drawing::crosses_a_mark(const Box& text) const {
  const auto crosses = [&](const Point& p) {
    if (!shows(p)) return false;
    const double low = std::isnan(p.x_low) ? p.x : p.x_low, high = std::isnan(p.x_high) ? p.x : p.x_high;
    return std::abs(y_(p.y) + 4 - text.y) < 10 && x_(low) - 4 < text.x_to && x_(high) + 4 > text.x_from;
  };
  return std::ranges::any_of(plot_.lines,
                             [&](const Line& line) { return std::ranges::any_of(line.points, crosses); });
}

Drawing::Box Drawing::place_of(const Point& p, const Line& line) const {
  const double width = width_of(p.text), x = x_(p.x), y = y_(p.y);
  if (line.text == Line::Text::kAbove) return {x - width / 2, x + width / 2, y - 8};
  const double end = std::isnan(p.x_high) ? x : x_(p.x_high);
  const Box right{end + 7, end + 7 + width, y + 4};
  return crosses_a_mark(right) ? Box{x, x + width, y - 8} : right;
}

// A text that would cover another one is left out: its hint has it.
void Drawing::draw_texts(const Line& line) {
  const bool above = line.text == Line::Text::kAbove;
  for (const auto& p : line.points) {
    if (!shows(p) || p.text.empty()) continue;
    const Box place = place_of(p, line);
    const bool covered = std::ranges::any_of(texts_, [&](const Box& b) {
      return place.x_from < b.x_to && place.x_to > b.x_from && std::abs(place.y - b.y) < 12;
    });
    if (covered) continue;
    texts_.push_back(place);
    put_text(above ? (place.x_from + place.x_to) / 2 : place.x_from, place.y, p.text,
             above ? "middle value" : "value");
  }
}

void Drawing::draw_legend() {
  for (const auto& entry : legend_) {
    const double y = bottom_ + 12 + static_cast<double>(entry.row) * kLine, x = entry.x;
    const std::string& colour = entry.entry->colour;
    if (!entry.line) {
      put_path("area " + colour, fmt::format("M{} {}h12v12h-12z", px(x + 8), px(y - 6)));
    } else {
      Line sample = *entry.line;
      if (sample.band) put_path("band " + colour, fmt::format("M{} {}h22v12h-22z", px(x), px(y - 6)));
      static constexpr std::string_view kClasses[] = {"", "line ", "line dotted ", "line dashed "};
      if (sample.stroke != Line::Stroke::kHidden)
        put_path(std::string(kClasses[static_cast<std::size_t>(sample.stroke)]) + colour,
                 fmt::format("M{} {}h22", px(x), px(y)));
      put_path("mark " + colour, outline(sample.mark, x + 11, y));
    }
    put_text(x + 28, y + 4, entry.entry->name);
  }
}

// The style of files: that of the page, with the colours of its light ground in place of variables.
std::string file_style() {
  std::string style(page_plot_style());
  const std::string_view page = page_style();
  std::string_view colours = page.substr(page.find("--"));
  colours = colours.substr(0, colours.find('}'));
  while (colours.starts_with("--")) {
    const auto colon = colours.find(':'), end = colours.find(';');
    const std::string name = fmt::format("var({})", colours.substr(0, colon));
    const std::string_view value = colours.substr(colon + 2, end - colon - 2);
    for (auto found = style.find(name); found != std::string::npos; found = style.find(name))
      style.replace(found, name.size(), value);
    colours.remove_prefix(std::min(colours.find("--", end), colours.size()));
  }
  return "<style>\n" + style + "</style><path class=\"ground\" d=\"M0 0h9999v9999h-9999z\"/>";
}

std::string Drawing::text(const SvgOptions& options) {
  const double rows = legend_.empty() ? 0 : static_cast<double>(legend_.back().row) + 1;
  const double height = bottom_ + 4 + (rows > 0 ? rows * kLine + 6 : 0);
  out_ = fmt::format(
      "<svg{3} class=\"plot\" role=\"img\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" aria-label=\"{2}\">",
      px(width_), px(height), escape_xml(plot_.description),
      options.standalone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "");
  if (options.standalone) out_ += file_style();
  draw_title();
  draw_y_axis();
  draw_x_axis();
  draw_axis_titles();
  draw_rectangles();
  for (const auto& line : plot_.lines)
    if (line.band) draw_band(line);
  for (const auto& line : plot_.lines) {
    draw_line(line);
    if (!line.band) draw_whiskers(line);
    draw_marks(line);
  }
  for (const auto& line : plot_.lines) draw_texts(line);
  draw_legend();
  look({});
  return out_ + "</svg>\n";
}

}  // namespace

std::string svg_of(const Plot& plot, const SvgOptions& options) {
  if (data_range(plot, true).empty() || data_range(plot, false).empty()) return {};
  return Drawing(plot, options).text(options);
}

}  // namespace paceline::answer
