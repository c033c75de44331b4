// SPDX-License-Identifier: MIT
#include "run/case/phase_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace paceline::run {

double PassTimes::seconds() const {
  double sum = 0;
  for (const auto& one : phases) sum += one.seconds;
  return sum;
}

void add_phase(PassTimes& times, const PhaseTime& more) {
  const auto known = std::ranges::find(times.phases, more.phase, &PhaseTime::phase);
  if (known == times.phases.end())
    times.phases.push_back(more);
  else
    known->seconds += more.seconds;
}

std::string words_of(const PassTimes& times) {
  std::string text = fmt::format("{} {:.2f} s", times.pass, times.seconds());
  for (std::size_t i = 0; i < times.phases.size(); ++i)
    text += fmt::format("{} {} {:.2f}", i == 0 ? ":" : ",", times.phases[i].phase, times.phases[i].seconds);
  return text;
}

PhaseWatch::PhaseWatch(std::string pass)
    : phase_(pass::kStartPhase), since_ns_(clock_.now_ns()), times_{std::move(pass), {}} {}

void PhaseWatch::take(const pass::ProgressRecord& record) {
  if (record.notice.empty() && !record.part && !record.phase.empty()) enter(record.phase);
}

void PhaseWatch::enter(const std::string& phase) {
  if (phase == phase_) return;
  const auto now = clock_.now_ns();
  if (phase_ != pass::kUncheckedPhase)  // other passes run then
    add_phase(times_, {phase_, static_cast<double>(now - since_ns_) * 1e-9});
  phase_ = phase;
  since_ns_ = now;
}

PassTimes PhaseWatch::end() {
  enter({});
  return std::move(times_);
}

}  // namespace paceline::run
