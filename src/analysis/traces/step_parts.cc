// SPDX-License-Identifier: MIT
#include "analysis/traces/step_parts.h"

#include <algorithm>
#include <array>
#include <utility>

namespace paceline::analysis::traces {
namespace {

constexpr std::array kEachPart{&TimeParts::data_wait,    &TimeParts::forward, &TimeParts::backward,
                               &TimeParts::optimizer,    &TimeParts::exposed, &TimeParts::rest,
                               &TimeParts::communication};

// How much of a set of intervals lies before a time.
class Covered {
 public:
  explicit Covered(Intervals intervals) : intervals_(std::move(intervals)) {
    for (const auto& one : intervals_) sums_.push_back(sums_.back() + one.end - one.begin);
  }
  [[nodiscard]] std::int64_t before(std::int64_t time) const {
    const auto next = std::ranges::upper_bound(intervals_, time, {}, &Interval::begin);
    if (next == intervals_.begin()) return 0;
    const auto at = static_cast<std::size_t>(next - intervals_.begin());
    return sums_[at] - std::max<std::int64_t>(0, intervals_[at - 1].end - time);
  }
  [[nodiscard]] std::int64_t all() const { return sums_.back(); }

 private:
  Intervals intervals_;
  std::vector<std::int64_t> sums_{0};
};

// The intervals of each part of a step.
class PartTimes {
 public:
  PartTimes(Interval whole, std::array<Intervals, kEachPart.size()> parts) : whole_(whole) {
    for (auto& part : parts) parts_.emplace_back(std::move(part));
  }
  [[nodiscard]] TimeParts until(std::int64_t time) const {
    TimeParts parts;
    for (std::size_t i = 0; i < kEachPart.size(); ++i) parts.*kEachPart[i] = parts_[i].before(time);
    parts.length = time - whole_.begin;
    return parts;
  }

 private:
  Interval whole_;
  std::vector<Covered> parts_;
};

// Takes out of `left` what is in `part`, and returns it.
Intervals taken(Intervals& left, const Intervals& part) {
  Intervals both = common(part, left);
  left = without(left, both);
  return both;
}

PartTimes part_times(StepParts& parts, const RankTimes& times, const Intervals& communication,
                     const Intervals& exposed) {
  const TraceStep& step = parts.step;
  const Intervals whole{{step.begin, step.begin + step.length}};
  Intervals left = without(whole, exposed), data_wait, forward, backward, optimizer;
  if (times.device) {
    backward = taken(left, merged(std::move(parts.kernels[1])));
    optimizer = taken(left, merged(std::move(parts.kernels[2])));
    forward = taken(left, merged(std::move(parts.kernels[0])));
    data_wait = taken(left, without(parts.loader, times.device_busy));
  } else {
    data_wait = taken(left, parts.loader);
    optimizer = taken(left, parts.optimizer);
    backward = taken(left, parts.backward);
    Intervals until_backward = whole;
    if (!parts.backward.empty()) until_backward.back().end = parts.backward.back().end;
    forward = taken(left, parts.forward_scopes.empty() ? common(until_backward, times.computing)
                                                       : merged(std::move(parts.forward_scopes)));
  }
  return {whole.front(), {data_wait, forward, backward, optimizer, exposed, left, communication}};
}

Intervals spans_of(const std::vector<Exchange>& exchanges, bool (*of)(CallKind)) {
  Intervals spans;
  for (const auto& one : exchanges)
    if (of(one.kind)) spans.push_back({one.begin, one.end});
  return merged(std::move(spans));
}

// An exposed moment is that of the first exchange to begin that has it.
void share_out(std::vector<Exchange>& exchanges, const Covered& exposed, const PartTimes& times,
               const Interval& whole) {
  std::int64_t until = whole.begin;
  for (auto& one : exchanges) {
    one.end = std::min(one.end, whole.end);
    const std::int64_t from = std::max(one.begin, until);
    until = std::max(until, one.end);
    one.exposed = from < one.end ? exposed.before(one.end) - exposed.before(from) : 0;
    one.until = times.until(std::clamp(one.end, whole.begin, whole.end));
  }
}

}  // namespace

TimeParts& TimeParts::operator+=(const TimeParts& more) {
  length += more.length;
  for (const auto part : kEachPart) this->*part += more.*part;
  return *this;
}

TimeParts& TimeParts::operator-=(const TimeParts& less) {
  length -= less.length;
  for (const auto part : kEachPart) this->*part -= less.*part;
  return *this;
}

TraceStep finished(StepParts parts, const RankTimes& times) {
  const Interval whole{parts.step.begin, parts.step.begin + parts.step.length};
  std::ranges::stable_sort(parts.exchanges, {}, &Exchange::begin);
  const auto in_step = [&](bool (*of)(CallKind)) { return common(spans_of(parts.exchanges, of), {whole}); };
  const Intervals communication = in_step([](CallKind) { return true; });
  const Intervals exposed = without(communication, times.computing);
  const PartTimes all = part_times(parts, times, communication, exposed);
  TraceStep step = std::move(parts.step);
  static_cast<TimeParts&>(step) = all.until(whole.end);
  step.point_to_point = length(in_step(is_point_to_point));
  if (times.device) step.idle = length(without({whole}, times.device_busy));
  step.exchanges = std::move(parts.exchanges);
  share_out(step.exchanges, Covered(exposed), all, whole);
  return step;
}

}  // namespace paceline::analysis::traces
