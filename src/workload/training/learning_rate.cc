// SPDX-License-Identifier: MIT
#include "workload/training/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace paceline::workload {
namespace {

double cosine(const pass::ScheduleSpec& s, std::int64_t step) {
  const auto whole = std::max<std::int64_t>(1, s.total_steps - s.warmup_steps);
  const double done = std::min(1.0, static_cast<double>(step) / static_cast<double>(whole));
  return s.base * (s.last + (1 - s.last) * 0.5 * (1 + std::cos(std::numbers::pi * done)));
}

double stepwise(const pass::ScheduleSpec& s, std::int64_t step) {
  if (s.step_every <= 0) return s.base;
  return s.base * std::pow(s.gamma, static_cast<double>(step / s.step_every));
}

}  // namespace

double learning_rate(const pass::ScheduleSpec& s, std::int64_t step) {
  if (step < s.warmup_steps)
    return s.base * static_cast<double>(step + 1) / static_cast<double>(s.warmup_steps);
  const auto after = step - s.warmup_steps;
  if (s.name == "cosine") return cosine(s, after);
  if (s.name == "step") return stepwise(s, after);
  return s.base;
}

pass::ScheduleSpec in_steps(pass::ScheduleSpec schedule, std::int64_t steps_per_epoch) {
  if (schedule.epochs <= 0) return schedule;
  const auto all = schedule.epochs * steps_per_epoch;
  if (schedule.total_steps == 0) schedule.total_steps = all;
  if (schedule.step_every == 0) schedule.step_every = (all + 2) / 3;
  return schedule;
}

}  // namespace paceline::workload
