// SPDX-License-Identifier: MIT
// Follows figures of cases over runs: levels, changes between them, and whether the machine changed with
// them.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answer/answer.h"
#include "history/index.h"
#include "stats/change_points.h"

namespace paceline::history {

// A run on the way of a figure.
struct Step {
  std::string run_id, started_utc, version, commit, grade;
  std::map<std::string, std::string> system;
  bool cut_short = false;
  double value = 0;
  std::optional<double> low, high, control;
};

// One metric of one case on one machine, the oldest run first.
struct Course {
  std::string key, label, metric, machine, machine_words;
  std::string control;  // name of the machine's figure that every step has; empty: there is none
  std::vector<Step> steps;
  stats::Changes changes, control_changes;
};

// `metric`: its name; empty: the headline figure of each case.
std::vector<Course> courses_of(const std::vector<Indexed>& runs, const std::string& metric);

// Origin of a change, as far as the machine's figure tells.
enum class Cause { kMachine, kNotMachine, kUnknown };
// The machine's figure moved the same way at most one run away; kUnknown without such a figure.
Cause cause_of(const Course& course, const stats::ChangePoint& change);

// Whether the change is for the worse; none for a metric that is neither.
std::optional<bool> is_worse(const std::string& metric, double change);

// A chart for each course, and a sentence for each change. Changes are no verdict: they warn at most.
answer::Answer trend_answer(const std::vector<Course>& courses);

// Metrics that the index must give for courses of `metric`.
std::vector<std::string> metrics_of_courses(const std::string& metric);

}  // namespace paceline::history
