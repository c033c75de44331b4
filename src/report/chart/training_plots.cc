// SPDX-License-Identifier: MIT
// Plots of training: throughput, efficiency and time over ranks, parts of a step, what is lost, loss.
// Throughput of inference over GPUs or processes is drawn as that over ranks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "analysis/case_query.h"
#include "analysis/step_prediction.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/chart/plot_parts.h"
#include "result/judged/shared_work.h"
#include "result/judged/training_scaling.h"

namespace paceline::report {
namespace {

using analysis::Prediction;

double world_of(const CaseResult& one) {
  const auto replicas = result::replicas_of(one.benchmark);
  return static_cast<double>(replicas ? replicas->count : one.benchmark.world_size);
}

std::string_view members_of(const CaseResult& one) {
  const auto replicas = result::replicas_of(one.benchmark);
  return !replicas ? "ranks" : replicas->gpus ? "GPUs" : "processes";
}

// Cases that differ in nothing but the number of ranks, the fewest first, and what is predicted from them.
struct Family {
  Cases cases;
  std::vector<Prediction> predictions{};
  [[nodiscard]] const CaseResult& base() const { return *cases.front().one; }
  [[nodiscard]] const CaseResult& largest() const { return *cases.back().one; }
};

Family family_of(const ReportCase& base, const Cases& cases) {
  Family family{{base}};
  for (const ReportCase& entry : cases) {
    if (entry.run != base.run || !entry.one->scaling || entry.one->scaling->base_case_id != base.one->case_id)
      continue;
    family.cases.push_back(entry);
  }
  std::ranges::stable_sort(family.cases, {}, [](const ReportCase& e) { return world_of(*e.one); });
  if (!analysis::point_of(*base.one).empty())
    family.predictions = analysis::predict_beyond(base.run->result, base.one->case_id).predictions;
  return family;
}

std::vector<Family> families_of(const Cases& cases, const std::string& model) {
  std::vector<Family> families;
  for (const ReportCase& entry : cases) {
    if (entry.one->benchmark.model != model || !entry.one->throughput.per_s.value) continue;
    auto family = family_of(entry, cases);
    if (family.cases.size() > 1) families.push_back(std::move(family));
  }
  return families;
}

// The word of a label that differs within a family: "r1" over ranks, "g1" over GPUs, "i1" over instances.
std::string member_word(const CaseResult& one) {
  const auto replicas = result::replicas_of(one.benchmark);
  return fmt::format("{}{:g}", !replicas ? "r" : replicas->gpus ? "g" : "i", world_of(one));
}

// "resnet50 train fp32 b8 r1" is a line over ranks, "resnet50 train fp32 b8".
std::string family_name(const Family& family) {
  auto words = split(name_of(family.cases.front()), ' ');
  const auto last = std::find(words.rbegin(), words.rend(), member_word(family.base()));
  if (last != words.rend()) words.erase(std::next(last).base());
  return join(words, " ");
}

// How a family is drawn: the figure of a case, of a prediction, and of as many ranks when nothing is lost.
struct OverRanks {
  Measured (*of)(const ReportCase& entry);
  Measured (*predicted)(const Family& family, const Prediction& p);
  double (*ideal)(const Family& family, double world);
  std::string unit;
};

Point predicted_point(const OverRanks& figure, const Family& family, const Prediction& p) {
  const Measured m = figure.predicted(family, p);
  Point point{static_cast<double>(p.world), m.value};
  if (!p.model_only) point.y_low = m.low, point.y_high = m.high;
  point.hint = fmt::format("{} ranks, {}: {}", p.world, p.model_only ? "model only, no claim" : "predicted",
                           p.model_only ? span_text({m.value}, figure.unit) : span_text(m, figure.unit));
  return point;
}

// From the last measured point on; its interval there is that of the measurement.
void add_predictions(Plot& plot, const OverRanks& figure, const Family& family, const std::string& colour,
                     bool named) {
  if (family.predictions.empty()) return;
  const Measured m = figure.of(family.cases.back());
  Line claimed{.points = {{.x = world_of(family.largest()), .y = m.value, .y_low = m.low, .y_high = m.high}},
               .colour = colour,
               .mark = Line::Mark::kHidden,
               .band = true,
               .name = named ? "predicted, with its range" : ""};
  Line model{.points = {},
             .colour = colour,
             .stroke = Line::Stroke::kDashed,
             .name = named ? "model only, no claim" : ""};
  for (const Prediction& p : family.predictions)
    (p.model_only ? model : claimed).points.push_back(predicted_point(figure, family, p));
  if (!model.points.empty()) {
    model.points.insert(model.points.begin(), {claimed.points.back().x, claimed.points.back().y});
    plot.lines.push_back(model);
  }
  if (claimed.points.size() > 1) plot.lines.push_back(claimed);
  Line marks{.points = claimed.points,
             .colour = colour,
             .stroke = Line::Stroke::kHidden,
             .mark = Line::Mark::kCircle};
  marks.points.erase(marks.points.begin());
  if (!model.points.empty())
    marks.points.insert(marks.points.end(), model.points.begin() + 1, model.points.end());
  for (Point& p : marks.points) p.y_low = p.y_high = kMissing, p.hollow = true;
  plot.lines.push_back(marks);
}

Line ideal_line(const OverRanks& figure, const Family& family, double last, bool named) {
  Line line{.points = {}, .colour = "soft", .stroke = Line::Stroke::kDotted, .name = named ? "ideal" : ""};
  const double first = world_of(family.base());
  constexpr int kPieces = 24;  // it is no straight line on every axis
  for (int at = 0; at <= kPieces; ++at) {
    const double world = first * std::pow(last / first, static_cast<double>(at) / kPieces);
    line.points.push_back({world, figure.ideal(family, world)});
  }
  return line;
}

Line family_line(const OverRanks& figure, const Family& family, std::size_t index, const std::string& name) {
  Line line{.points = {}, .colour = series_colour(index), .mark = series_mark(index), .name = name};
  for (const ReportCase& entry : family.cases) {
    const Measured m = figure.of(entry);
    std::string hint = name_of(entry) + "\n" + span_text(m, figure.unit);
    if (entry.one->scaling && !result::scaling_doubt(*entry.one).empty())
      hint += "\nno claim: " + result::scaling_doubt(*entry.one);
    line.points.push_back(
        {.x = world_of(*entry.one), .y = m.value, .y_low = m.low, .y_high = m.high, .hint = hint});
  }
  return line;
}

// A line per family. Without lines where nothing was measured twice.
Plot plot_over(const std::string& title, const std::string& members, const std::vector<Family>& families,
               const OverRanks& figure) {
  const auto axis = (figure.unit.ends_with("/s") ? "throughput, " : "") + figure.unit;
  Plot plot{.title = title, .x = {.title = members, .from_zero = false}, .y = {.title = axis}};
  plot.name = title;
  std::vector<std::string> names;
  for (const Family& family : families) names.push_back(family_name(family));
  names = without_shared(names, plot);
  std::set<double> worlds;
  for (const Family& family : families) {
    for (const ReportCase& entry : family.cases) worlds.insert(world_of(*entry.one));
    for (const Prediction& p : family.predictions) worlds.insert(static_cast<double>(p.world));
  }
  plot.x.ticks.assign(worlds.begin(), worlds.end());
  if (*worlds.rbegin() >= 8 * *worlds.begin()) plot.x.scale = Axis::Scale::kDoubling;
  for (std::size_t at = 0; at < families.size(); ++at) {
    const Family& family = families[at];
    const double last = family.predictions.empty() ? world_of(family.largest())
                                                   : static_cast<double>(family.predictions.back().world);
    const Line measured_points = family_line(figure, family, at, names[at]);
    if (std::ranges::count_if(measured_points.points, [](const Point& p) { return !std::isnan(p.y); }) < 2)
      continue;
    plot.lines.push_back(ideal_line(figure, family, last, at == 0));
    add_predictions(plot, figure, family, series_colour(at), at == 0);
    plot.lines.push_back(measured_points);
    for (const Point& p : plot.lines.back().points)
      plot.description += fmt::format("{}{:g} {} {}", plot.description.empty() ? "" : "; ", p.x, members,
                                      span_text({p.y, p.y_low, p.y_high}, figure.unit));
  }
  return plot;
}

// One plot per model and what there are several of.
Plots over_ranks(const Cases& cases, const OverRanks& figure) {
  Plots plots;
  for (const auto& model : models_of(cases)) {
    std::vector<std::string> members;
    std::vector<std::vector<Family>> of_members;
    for (auto& family : families_of(cases, model)) {
      const auto at = place_of(std::string(members_of(family.base())), members);
      of_members.resize(members.size());
      of_members[at].push_back(std::move(family));
    }
    for (std::size_t at = 0; at < members.size(); ++at) {
      const auto title = members.size() > 1 ? fmt::format("{} over {}", model, members[at]) : model;
      Plot plot = plot_over(title, members[at], of_members[at], figure);
      if (!plot.lines.empty()) plots.push_back(std::move(plot));
    }
  }
  return plots;
}

Measured rate_of(const ReportCase& entry) {
  return measured(entry.one->throughput.per_s);
}

// As many times the throughput of the largest world measured as its ranks and its steps give.
Measured predicted_rate(const Family& family, const Prediction& p) {
  const double rate = rate_of(family.cases.back()).value, world = static_cast<double>(p.world);
  const auto points = analysis::point_of(family.largest());
  if (points.empty()) return {};
  const double work = rate * world / world_of(family.largest()) * points.front().step_ns();
  return {work / p.step_ns, work / p.high_ns, work / p.low_ns};
}

double ideal_rate(const Family& family, double world) {
  return rate_of(family.cases.front()).value * world / world_of(family.base());
}

Measured efficiency_at(const ReportCase& entry) {
  if (!entry.one->scaling) return {1};
  return result::scaling_doubt(*entry.one).empty() ? measured(result::efficiency_of(*entry.one)) : Measured{};
}

Measured predicted_efficiency(const Family& family, const Prediction& p) {
  const double base = analysis::point_of(family.base()).front().step_ns();
  return {base / p.step_ns, base / p.high_ns, base / p.low_ns};
}

double ideal_efficiency(const Family&, double) {
  return 1;
}

using Training = result::Training;

// Means of the parts of a step and the rest of it, so that their bar is as long as the mean step.
StackRow parts_of(const ReportCase& entry) {
  const Training& t = *entry.one->training();
  StackRow row{name_of(entry), {}};
  const double mean_ms = number_or_missing(entry.one->stats.mean_ns, kNsToMs);
  for (const auto part : result::kStepParts) row.parts.push_back(number_or_missing(t.shares[part], mean_ms));
  double rest = mean_ms;
  for (const double part : row.parts)
    if (!std::isnan(part)) rest -= part;
  row.parts.push_back(std::isnan(rest) ? kMissing : std::max(0.0, rest));
  return row;
}

constexpr double kSmallLoss = 0.3;

// From the ideal step over what each part adds to the measured step.
Plot waterfall(const ReportCase& entry) {
  const auto& scaling = *entry.one->scaling;
  const double step = number_or_missing(entry.one->training()->costs.step_ns.value, kNsToMs);
  double at = step;
  for (const auto& part : scaling.budget) at -= number_or_missing(part.cost_ns.value, kNsToMs);
  Plot plot{.title = name_of(entry),
            .description = "Loss budget of " + name_of(entry),
            .x = {.title = "ms of a mean step"}};
  const double lost = step - at;
  const bool cut = lost > 0 && lost < kSmallLoss * step;  // the parts would not be seen
  if (cut)
    plot.x.title += "; the axis does not begin at 0", plot.x.from_zero = false, plot.x.low = at - lost / 3;
  const double begin = cut ? -kEndless : 0;
  Line ends{.points = {}, .stroke = Line::Stroke::kHidden, .text = Line::Text::kRight};
  const auto add = [&](const std::string& name, double from, double to, const std::string& colour,
                       Measured ends_at, const std::string& words) {
    const auto row = static_cast<double>(plot.y.categories.size());
    plot.y.categories.push_back(name);
    plot.rectangles.push_back({from, to, row - 0.32, row + 0.32, colour, name + ": " + words});
    ends.points.push_back(
        {.x = std::max(from, to), .y = row, .x_low = ends_at.low, .x_high = ends_at.high, .text = words});
    plot.description += fmt::format("; {} {}", name, words);
  };
  add(fmt::format("ideal, from {}", plural(scaling.base_world, "rank")), begin, at, "soft", {},
      format_significant(at) + " ms");
  for (const auto& part : scaling.budget) {
    const Measured cost = measured(part.cost_ns, kNsToMs);
    const std::string share = part.share ? fmt::format(" ({})", format_percent(*part.share, 0)) : "";
    add(spaced(part.name), at, at + cost.value, cost.value < 0 ? "c2" : "c1",
        {cost.value, at + cost.low, at + cost.high}, fmt::format("{:+.3g} ms{}", cost.value, share));
    at += cost.value;
  }
  add(plural(scaling.world, "rank"), begin, step, "accent", {}, format_significant(step) + " ms");
  plot.lines.push_back(std::move(ends));
  plot.name = entry.one->case_id;
  return plot;
}

std::string right_words(const Number& share) {
  return share ? fmt::format(", {} right", format_percent(*share)) : "";
}

std::string epoch_words(const ReportCase& entry, const result::EpochFigures& e) {
  std::string words = fmt::format("{}\nepoch {}: loss {}{}", name_of(entry), e.epoch + 1,
                                  significant_or_none(e.loss), right_words(e.accuracy));
  if (e.eval_loss)
    words += fmt::format("\nheld-out data: loss {}{}", format_significant(*e.eval_loss),
                         right_words(e.eval_accuracy));
  return words;
}

}  // namespace

Plots scaling_plots(const Cases& cases) {
  Plots plots = over_ranks(cases, {rate_of, predicted_rate, ideal_rate, throughput_head(cases)});
  for (Plot& plot : plots)
    if (plot.x.scale == Axis::Scale::kDoubling) plot.y.scale = Axis::Scale::kLog10;
  return plots;
}

Plots efficiency_plots(const Cases& cases) {
  Plots plots = over_ranks(cases, {efficiency_at, predicted_efficiency, ideal_efficiency, "efficiency"});
  for (Plot& plot : plots) plot.y.high = 1.1;
  return plots;
}

Plots total_time_plots(const Cases& cases) {
  std::vector<BarRow> rows;
  for (const ReportCase& entry : cases) {
    const auto& total = entry.one->training()->total_ns;
    if (!total) continue;
    const auto words = format_duration_ns(*total);
    rows.push_back({name_of(entry), name_of(entry) + ": " + words, words, {*total * 1e-9}});
  }
  if (rows.empty()) return {};
  return {bar_plot("", "s from the first step to the last", std::move(rows))};
}

Plots part_plots(const Cases& cases) {
  std::vector<StackRow> rows;
  for (const ReportCase& entry : cases) rows.push_back(parts_of(entry));
  if (rows.empty()) return {};
  std::vector<LegendEntry> legend;
  for (const auto part : result::kStepParts)
    legend.push_back({traits_of(part).label, traits_of(part).colour});
  const bool rests =
      std::ranges::any_of(rows, [](const StackRow& row) { return !std::isnan(row.parts.back()); });
  if (rests) legend.push_back({"other", "pale"});
  return {stacked_plot("ms of a step", legend, std::move(rows))};
}

Plots budget_plots(const Cases& cases) {
  constexpr std::size_t kMostBudgets = 6;
  Plots plots;
  for (const ReportCase& entry : cases) {
    const bool has = entry.one->scaling && !entry.one->scaling->budget.empty();
    if (has && result::scaling_doubt(*entry.one).empty() && plots.size() < kMostBudgets)
      plots.push_back(waterfall(entry));
  }
  return plots;
}

Plots loss_plots(const Cases& all) {
  Cases cases = all;
  std::erase_if(cases, [](const ReportCase& e) { return e.one->training()->epochs.size() < 2; });
  if (cases.empty()) return {};
  Plot plot{.description = "Loss over epochs",
            .x = {.title = "epoch" + keep_first(cases), .from_zero = false, .whole = true},
            .y = {.title = "loss", .from_zero = false}};
  std::vector<std::string> names;
  for (const ReportCase& entry : cases) names.push_back(name_of(entry));
  names = without_shared(names, plot);
  for (std::size_t at = 0; at < cases.size(); ++at) {
    Line line{.points = {}, .colour = series_colour(at), .mark = series_mark(at), .name = names[at]};
    for (const auto& e : cases[at].one->training()->epochs)
      line.points.push_back({.x = static_cast<double>(e.epoch + 1),
                             .y = number_or_missing(e.loss),
                             .hint = epoch_words(cases[at], e)});
    plot.lines.push_back(std::move(line));
  }
  return {plot};
}

}  // namespace paceline::report
