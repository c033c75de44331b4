// SPDX-License-Identifier: MIT
// Shows courses of figures as an answer: charts, levels, and a sentence for each change.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "history/trend.h"
#include "result/metric_table.h"

namespace paceline::history {
namespace {

using answer::Line;
using Json = nlohmann::json;

constexpr std::size_t kCommitDigits = 9;

std::string title_of_metric(const std::string& name) {
  const auto* metric = result::find_metric(name);
  return metric ? std::string(metric->title) : name;
}

std::string value_words(const std::string& name, double value) {
  const auto* metric = result::find_metric(name);
  const auto unit = !metric || metric->unit == "1" ? "" : " " + std::string(metric->unit);
  return format_significant(value) + unit;
}

std::string control_words(const Course& course) {
  return course.control == kControlPeak ? "measured peak of the machine" : "time of fixed work";
}

std::string unit_of_control(const Course& course) {
  return course.control == kControlPeak ? "GFLOP/s" : "ms";
}

std::string signed_percent(double change) {
  return fmt::format("{:+.1f} %", 100 * change);
}

// " (version 0.1.0 → 0.2.0, commit 1a2b3c4d5 → 5d4c3b2a1)", of what differs between two runs.
std::string code_between(const Step& before, const Step& after) {
  std::string words;
  if (before.version != after.version) words = fmt::format("paceline {} → {}", before.version, after.version);
  if (before.commit != after.commit && !before.commit.empty() && !after.commit.empty())
    words += fmt::format("{}commit {} → {}", words.empty() ? "" : ", ",
                         before.commit.substr(0, kCommitDigits), after.commit.substr(0, kCommitDigits));
  return words.empty() ? "" : " (" + words + ")";
}

// " There, kernel 6.1 became 6.2.", of what a machine is run with.
std::string system_between(const Step& before, const Step& after) {
  std::vector<std::string> changes;
  for (const auto& [name, fact] : after.system)
    if (const auto old = before.system.find(name); old != before.system.end() && old->second != fact)
      changes.push_back(fmt::format("{} {} became {}", name, old->second, fact));
  return changes.empty() ? "" : fmt::format(" There, {}.", join(changes, ", "));
}

std::string cause_sentence(const Course& course, const stats::ChangePoint& change) {
  const auto& before = course.steps.at(change.first - 1);
  const auto& after = course.steps.at(change.first);
  switch (cause_of(course, change)) {
    case Cause::kMachine:
      return fmt::format("The {} changed at the same run: the machine changed, not the code.",
                         control_words(course));
    case Cause::kNotMachine:
      return fmt::format("The {} did not change there, so look at the code, model or libraries{}.",
                         control_words(course), code_between(before, after));
    case Cause::kUnknown:
      break;
  }
  return fmt::format("Not every run measured the control, so the machine may be the cause{}.",
                     code_between(before, after));
}

std::string word_of_change(const Course& course, double change) {
  const auto worse = is_worse(course.metric, change);
  return !worse ? "changed" : *worse ? "worse" : "better";
}

answer::Finding finding_of(const Course& course, const stats::ChangePoint& change) {
  const bool warns =
      is_worse(course.metric, change.change()).value_or(false) && cause_of(course, change) != Cause::kMachine;
  return {
      .id = "change_point",
      .severity = warns ? "warning" : "insight",
      .text = fmt::format("{}: {} went from {} to {} ({}, {}) at run {}, {} ago. {}", course.label,
                          title_of_metric(course.metric), value_words(course.metric, change.before),
                          value_words(course.metric, change.after), signed_percent(change.change()),
                          word_of_change(course, change.change()), course.steps.at(change.first).run_id,
                          plural(std::ssize(course.steps) - static_cast<std::int64_t>(change.first), "run"),
                          cause_sentence(course, change)) +
              system_between(course.steps.at(change.first - 1), course.steps.at(change.first)),
      .evidence = fmt::format("p = {:.2g} of equal levels", change.p),
      .about = {course.key}};
}

answer::Finding watch_of(const Course& course) {
  const auto& watch = *course.changes.watch;
  return {.id = "watch",
          .severity = "insight",
          .text = fmt::format(
              "{}: watch {}: the last {} {} {} beside the level before ({} to {}); four such runs "
              "would be a change.",
              course.label, title_of_metric(course.metric),
              plural(std::ssize(course.steps) - static_cast<std::int64_t>(watch.first), "run"),
              course.steps.size() - watch.first == 1 ? "lies" : "lie",
              signed_percent(watch.value / watch.level - 1), value_words(course.metric, watch.level),
              value_words(course.metric, watch.value)),
          .about = {course.key}};
}

answer::Point point_at(std::size_t index, double value) {
  return {.x = static_cast<double>(index + 1), .y = value};
}

Line line_of_values(const Course& course) {
  Line line{.points = {},
            .colour = answer::series_colour(0),
            .stroke = Line::Stroke::kHidden,
            .mark = Line::Mark::kDot,
            .name = title_of_metric(course.metric)};
  for (std::size_t i = 0; i < course.steps.size(); ++i) {
    const auto& step = course.steps[i];
    auto point = point_at(i, step.value);
    point.y_low = step.low.value_or(answer::kMissing), point.y_high = step.high.value_or(answer::kMissing);
    point.hint = fmt::format("{}  {}  {}{}", step.run_id, value_words(course.metric, step.value),
                             step.grade.empty() ? "" : "grade " + step.grade,
                             step.cut_short ? fmt::format("  {}", kCutShort) : "");
    point.hollow = step.grade == "C" || step.cut_short;
    line.points.push_back(std::move(point));
  }
  return line;
}

// Levels as steps; the change is written where a level begins.
Line line_of_levels(const stats::Changes& changes, std::size_t count, const std::string& name) {
  Line line{.points = {}, .stroke = Line::Stroke::kSolid, .name = name};
  for (std::size_t i = 0; i < changes.points.size(); ++i) {
    const auto& change = changes.points[i];
    const auto end = i + 1 < changes.points.size() ? changes.points[i + 1].first : count;
    if (i == 0) line.points.push_back(point_at(0, change.before));
    auto last = point_at(change.first - 1, change.before);
    line.points.push_back(last);
    auto first = point_at(change.first, change.after);
    first.text = signed_percent(change.change());
    line.points.push_back(std::move(first));
    line.points.push_back(point_at(end - 1, change.after));
  }
  return line;
}

answer::Axis axis_of_runs() {
  return {.title = "run, the oldest first", .from_zero = false, .whole = true};
}

answer::Plot plot_of_case(const Course& course) {
  const auto* metric = result::find_metric(course.metric);
  answer::Plot plot{
      .title = course.control.empty() ? "" : "the case",
      .description = fmt::format("{} of {} over {} runs", title_of_metric(course.metric), course.label,
                                 course.steps.size()),
      .x = axis_of_runs(),
      .y = {.title = metric ? fmt::format("{} ({})", metric->title, metric->unit) : course.metric,
            .from_zero = false},
      .lines = {line_of_values(course)},
      .name = "case"};
  if (!course.changes.points.empty())
    plot.lines.push_back(line_of_levels(course.changes, course.steps.size(), "level"));
  return plot;
}

answer::Plot plot_of_control(const Course& course) {
  Line line{.points = {},
            .colour = answer::series_colour(1),
            .stroke = Line::Stroke::kHidden,
            .mark = Line::Mark::kDot,
            .name = control_words(course)};
  for (std::size_t i = 0; i < course.steps.size(); ++i)
    line.points.push_back(point_at(i, course.steps[i].control.value_or(answer::kMissing)));
  answer::Plot plot{.title = "the machine",
                    .description = fmt::format("{} in the same runs", control_words(course)),
                    .x = axis_of_runs(),
                    .y = {.title = fmt::format("{} ({})", control_words(course), unit_of_control(course)),
                          .from_zero = false},
                    .lines = {std::move(line)},
                    .name = "machine"};
  if (!course.control_changes.points.empty())
    plot.lines.push_back(line_of_levels(course.control_changes, course.steps.size(), "level"));
  return plot;
}

answer::Section section_of(const Course& course, std::size_t number) {
  answer::Section section{.title = fmt::format("{}, {}", course.label, title_of_metric(course.metric)),
                          .aside = true};
  section.chart = {.id = fmt::format("trend-{}", number),
                   .title = section.title,
                   .reading =
                       "A dot is a run, hollow if it was noisy or interrupted; lines are levels, with the "
                       "change where one "
                       "begins. If the machine's figure moves at the same run, the machine changed.",
                   .metric = course.metric,
                   .plots = {plot_of_case(course)}};
  if (!course.control.empty()) section.chart.plots.push_back(plot_of_control(course));
  if (!course.machine_words.empty()) section.notes.push_back("Machine: " + course.machine_words);
  return section;
}

// The newest change in words, or why there is none.
std::string reading_of(const Course& course) {
  constexpr std::size_t kFewest = 8;  // two segments
  if (course.changes.watch) return "watch";
  if (!course.changes.points.empty()) {
    const auto& change = course.changes.points.back();
    return fmt::format("{} ({}) since {}{}", word_of_change(course, change.change()),
                       signed_percent(change.change()),
                       course.steps.at(change.first).started_utc.substr(0, 10),
                       cause_of(course, change) == Cause::kMachine ? ", with the machine" : "");
  }
  return course.steps.size() < kFewest ? fmt::format("too few runs ({} of {})", course.steps.size(), kFewest)
                                       : "no change";
}

answer::Table table_of(const std::vector<Course>& courses) {
  answer::Table table{.heads = {"case", "metric", "runs", "level", "last run"}, .numbers_from = 2};
  for (const auto& course : courses) {
    const auto& points = course.changes.points;
    const auto level =
        points.empty() ? std::string(answer::kNone) : value_words(course.metric, points.back().after);
    table.add(course.label, course.metric, std::to_string(course.steps.size()), level,
              value_words(course.metric, course.steps.back().value));
  }
  return table;
}

answer::Check check_of(const Course& course) {
  const bool steady = course.changes.points.empty() && !course.changes.watch;
  return {.name = fmt::format("{} {}", course.label, course.metric),
          .verdict = steady ? answer::Verdict::kYes : answer::Verdict::kReservedly,
          .text = reading_of(course),
          .group = "trend"};
}

Json json_of_changes(const Course& course, const stats::Changes& changes) {
  auto points = Json::array();
  for (const auto& point : changes.points)
    points.push_back({{"run_id", course.steps.at(point.first).run_id},
                      {"before", point.before},
                      {"after", point.after},
                      {"change", point.change()},
                      {"p", point.p}});
  return points;
}

Json json_of_course(const Course& course) {
  auto steps = Json::array();
  for (const auto& step : course.steps) {
    Json entry{{"run_id", step.run_id}, {"started_utc", step.started_utc}, {"value", step.value}};
    if (step.control) entry["control"] = *step.control;
    if (step.cut_short) entry["outcome"] = kCutShort;
    steps.push_back(std::move(entry));
  }
  Json json{{"case_key", course.key},
            {"label", course.label},
            {"metric", course.metric},
            {"machine", course.machine},
            {"control", course.control},
            {"runs", std::move(steps)},
            {"changes", json_of_changes(course, course.changes)},
            {"control_changes", json_of_changes(course, course.control_changes)}};
  for (std::size_t i = 0; i < course.changes.points.size(); ++i)
    json["changes"][i]["machine_changed"] = cause_of(course, course.changes.points[i]) == Cause::kMachine;
  if (course.changes.watch) json["watch"] = course.steps.at(course.changes.watch->first).run_id;
  return json;
}

// Names how many runs ended early; empty: none did.
std::string remark_of(const Course& course) {
  const auto cut = std::ranges::count_if(course.steps, &Step::cut_short);
  if (cut == 0) return {};
  return fmt::format("{}: {} of {} {} interrupted; the figures are of what was measured until then",
                     course.label, cut, plural(std::ssize(course.steps), "run"), cut == 1 ? "was" : "were");
}

std::string sentence_of(const answer::Answer& answer, const std::vector<Course>& courses) {
  if (courses.empty()) return "no run has this figure";
  const auto changed =
      std::ranges::count_if(courses, [](const Course& c) { return !c.changes.points.empty(); });
  const auto watched =
      std::ranges::count_if(courses, [](const Course& c) { return c.changes.watch.has_value(); });
  if (courses.size() == 1 && !answer.findings.empty()) return answer.findings.front().text;
  return fmt::format("{} of {} changed{}", changed, plural(std::ssize(courses), "figure"),
                     watched == 0 ? "" : fmt::format(", {} to watch", watched));
}

}  // namespace

answer::Answer trend_answer(const std::vector<Course>& courses) {
  answer::Answer answer{.title = "trend", .sentence = {}};
  answer.data["series"] = Json::array();
  answer.sections.push_back({.title = "Series", .table = table_of(courses)});
  std::size_t number = 0;
  for (const auto& course : courses) {
    const auto& points = course.changes.points;
    for (auto point = points.rbegin(); point != points.rend(); ++point)
      answer.findings.push_back(finding_of(course, *point));
    if (course.changes.watch) answer.findings.push_back(watch_of(course));
    answer.checks.push_back(check_of(course));
    if (auto remark = remark_of(course); !remark.empty()) answer.remarks.push_back(std::move(remark));
    answer.sections.push_back(section_of(course, ++number));
    answer.data["series"].push_back(json_of_course(course));
  }
  std::stable_partition(answer.findings.begin(), answer.findings.end(),
                        [](const auto& one) { return one.severity == "warning"; });
  answer.sentence = sentence_of(answer, courses);
  return answer;
}

}  // namespace paceline::history
