// SPDX-License-Identifier: MIT
#include "history/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "result/metric_table.h"

namespace paceline::history {
namespace {

// Figures of the machine, the more telling one first.
struct Control {
  std::string_view name;
  bool lower_is_better;
};
constexpr std::array<Control, 2> kControls{{{kControlPeak, false}, {kControlWork, true}}};

const Figure* figure_named(const CaseEntry& one, std::string_view name) {
  const auto found = std::ranges::find(one.figures, name, &Figure::metric);
  return found == one.figures.end() ? nullptr : &*found;
}

bool all_steps_have(const std::vector<const CaseEntry*>& cases, std::string_view control) {
  return std::ranges::all_of(cases, [&](const CaseEntry* one) {
    const auto* figure = figure_named(*one, control);
    return figure && figure->value > 0;
  });
}

// A figure in whole steps of the clock is the same whether the machine changes or not.
bool tells_changes(const std::vector<const CaseEntry*>& cases, std::string_view control) {
  std::set<double> values;
  for (const auto* one : cases) values.insert(figure_named(*one, control)->value);
  return 2 * values.size() > cases.size();
}

std::string_view control_of(const std::vector<const CaseEntry*>& cases) {
  for (const auto& control : kControls)
    if (all_steps_have(cases, control.name) && tells_changes(cases, control.name)) return control.name;
  return {};
}

// A run and one of its cases, and the course that they belong to.
struct OnCourse {
  const Indexed* run;
  const CaseEntry* one;
  const Figure* figure;
};

Course course_of(std::vector<OnCourse> newest_first) {
  std::ranges::reverse(newest_first);
  const auto& last = newest_first.back();
  std::vector<const CaseEntry*> cases;
  for (const auto& each : newest_first) cases.push_back(each.one);
  Course course{last.one->key,
                last.one->label,
                last.figure->metric,
                last.run->run.machine,
                last.run->run.machine_words,
                std::string(control_of(cases)),
                {},
                {},
                {}};
  std::vector<double> values, controls;
  for (const auto& [run, one, figure] : newest_first) {
    const auto* control = course.control.empty() ? nullptr : figure_named(*one, course.control);
    course.steps.push_back({run->run.run_id, run->run.started_utc, run->run.version, run->run.commit,
                            one->grade, run->run.system, one->outcome == kCutShort, figure->value,
                            figure->low, figure->high,
                            control ? std::optional(control->value) : std::nullopt});
    values.push_back(figure->value);
    if (control) controls.push_back(control->value);
  }
  course.changes = stats::change_points(values);
  course.control_changes = stats::change_points(controls);
  return course;
}

}  // namespace

std::vector<std::string> metrics_of_courses(const std::string& metric) {
  auto metrics = metric.empty() ? headline_metrics() : std::vector{metric};
  for (const auto& control : kControls) metrics.emplace_back(control.name);
  return metrics;
}

std::vector<Course> courses_of(const std::vector<Indexed>& runs, const std::string& metric) {
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<OnCourse>> groups;
  for (const auto& run : runs)
    for (const auto& one : run.run.cases) {
      const auto* figure = metric.empty() ? headline_figure(one) : figure_named(one, metric);
      if (!figure) continue;
      const auto [at, is_new] =
          places.try_emplace(one.key + " " + run.run.machine + " " + figure->metric, groups.size());
      if (is_new) groups.emplace_back();
      groups[at->second].push_back({&run, &one, figure});
    }
  std::vector<Course> courses;
  for (auto& group : groups) courses.push_back(course_of(std::move(group)));
  std::stable_partition(courses.begin(), courses.end(),
                        [](const Course& one) { return !one.changes.points.empty(); });
  return courses;
}

std::optional<bool> is_worse(const std::string& metric, double change) {
  const auto* row = result::find_metric(metric);
  if (!row || row->better == result::Better::kNeither) return std::nullopt;
  return (change > 0) == (row->better == result::Better::kLower);
}

Cause cause_of(const Course& course, const stats::ChangePoint& change) {
  if (course.control.empty()) return Cause::kUnknown;
  const auto worse = is_worse(course.metric, change.change());
  const auto* control = std::ranges::find(kControls, course.control, &Control::name);
  const auto goes_with = [&](const stats::ChangePoint& machine) {
    const auto apart = std::max(machine.first, change.first) - std::min(machine.first, change.first);
    const bool machine_worse = (machine.change() > 0) == control->lower_is_better;
    return apart <= 1 && (!worse || *worse == machine_worse);
  };
  return std::ranges::any_of(course.control_changes.points, goes_with) ? Cause::kMachine : Cause::kNotMachine;
}

}  // namespace paceline::history
