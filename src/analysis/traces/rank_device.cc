// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/traces/intervals.h"
#include "analysis/traces/rank_reader.h"
#include "base/error.h"

namespace paceline::analysis::traces {

// By the name of the kernel, by what the profiler recorded of it, or because the call of the exchange
// launched it itself.
bool RankReader::is_communication(const TraceEvent& e, const Launch* launch, const HostCall* call) const {
  if (communicates_[e.name] || trace_.details[e.details].call != CallKind::kUnknown) return true;
  return call && (is_collective(call->kind) || is_point_to_point(call->kind)) &&
         launch->name != Launch::kNone && roles_[launch->name] == Role::kHandsOver;
}

// The call of the host knows what a kernel does: libraries make collectives of sends and receives, and some
// have one name for all of their kernels.
Exchange RankReader::exchange_of(const TraceEvent& e, const HostCall* call) const {
  const auto& details = trace_.details[e.details];
  Exchange one{.kind = details.call, .group = details.group, .begin = e.begin, .end = e.end};
  if (one.group == 0 && call) one.group = call->group;
  if (one.kind == CallKind::kUnknown && call) one.kind = call->kind;
  if (one.kind == CallKind::kUnknown || one.kind == CallKind::kWait)
    one.kind = kind_of_call(trace_.name_of(e));
  if (one.kind == CallKind::kSendReceive) one.kind = calls_.kind_of_pairs();
  return one;
}

// `call`: of the exchange that the kernel is; null for a kernel that computes.
void RankReader::add_kernel(const TraceEvent& e, bool communicates, const HostCall* call,
                            std::int64_t launched) {
  StepParts* parts = step_at(launched);
  if (!parts) return;
  parts->device_end = std::max(parts->device_end, e.end);
  if (communicates) {
    if (result_.communication != Communication::kDevice)
      for (auto& other : steps_) other.exchanges.clear();
    result_.communication = Communication::kDevice;
    return parts->exchanges.push_back(exchange_of(e, call));
  }
  const std::size_t part = contains(parts->backward, launched)    ? 1
                           : contains(parts->optimizer, launched) ? 2
                                                                  : 0;
  parts->kernels.at(part).push_back({e.begin, e.end});
}

// When the host launched work of the device: the device runs behind it. Without any calls of the host in the
// trace, when the work begins.
std::int64_t RankReader::launched(const TraceEvent& e, const Launch* launch) const {
  if (launch) return launch->begin;
  return operators_.launches().empty() ? e.begin : std::numeric_limits<std::int64_t>::min();
}

// Some profilers give kernels no number, those of RCCL among them.
bool RankReader::is_nameless(const TraceEvent& e, const Launch* launch) const {
  return !launch && e.correlation <= 0 && !operators_.launches().empty();
}

// Kernels of exchanges belong to the calls that have none, where there are as many. Others belong where the
// kernel before them does; where there is none, when they run.
void RankReader::add_nameless(const std::vector<Nameless>& nameless) {
  std::vector<const TraceEvent*> exchanges;
  for (const auto& one : nameless)
    if (is_communication(*one.kernel, nullptr, nullptr)) exchanges.push_back(one.kernel);
  auto calls = calls_.without_kernel();
  if (calls.size() != exchanges.size()) calls.clear();
  std::size_t at = 0;
  for (const auto& [kernel, before] : nameless) {
    const bool communicates = is_communication(*kernel, nullptr, nullptr);
    const HostCall* call = communicates && at < calls.size() ? calls[at++] : nullptr;
    add_kernel(*kernel, communicates, call, call ? call->begin : before.value_or(kernel->begin));
    if (!call) ++result_.placed;
  }
}

// A kernel belongs to the step and the part of it that launched it.
void RankReader::read_device() {
  Intervals kernels;
  std::vector<Nameless> nameless;
  std::optional<std::int64_t> before;
  for (const auto& name : trace_.names) communicates_.push_back(is_communication_kernel(name));
  for (const auto& e : trace_.events) {
    if (e.kind != EventKind::kKernel && e.kind != EventKind::kCopy) continue;
    times_.device_busy.push_back({e.begin, e.end});
    Launch* launch = operators_.launch_of(e);
    if (launch) launch->has_kernel = true;
    HostCall* call = launch ? calls_.at(launch->thread, launch->begin) : nullptr;
    const bool kernel = e.kind == EventKind::kKernel,
               communicates = kernel && is_communication(e, launch, call);
    if (kernel && !communicates) kernels.push_back({e.begin, e.end});
    if (communicates && call) call->has_kernel = true;
    if (kernel && is_nameless(e, launch)) {
      nameless.push_back({&e, before});
      continue;
    }
    if (launch) before = launch->begin;
    const bool earlier = launch ? launch->begin < steps_.front().host.begin
                                : !operators_.launches().empty() && e.begin < steps_.front().host.end;
    if (kernel && earlier) earlier_end_ = std::max(earlier_end_, e.end);
    if (kernel) add_kernel(e, communicates, call, launched(e, launch));
  }
  add_nameless(nameless);
  times_.device = !kernels.empty();
  times_.device_busy = merged(std::move(times_.device_busy));
  if (times_.device) times_.computing = merged(std::move(kernels));
}

// On a device a step begins and ends with the device's work, or with the host's where that is later.
void RankReader::set_times() {
  std::int64_t before = earlier_end_;
  for (auto& parts : steps_) {
    const std::int64_t end = std::max({before, parts.host.end, parts.device_end});
    parts.step.begin = std::max(parts.host.begin, before);
    parts.step.length = (times_.device ? end : parts.host.end) - parts.step.begin;
    if (times_.device) before = end;
  }
}

void RankReader::count_launches() {
  std::int64_t all = 0;
  for (const auto& launch : operators_.launches()) {
    StepParts* parts = launch.of_kernel ? step_at(launch.begin) : nullptr;
    if (!parts) continue;
    ++parts->launches;
    ++all;
    if (!launch.has_kernel) ++parts->without_kernel;
    if (launch.begin < parts->last_launch) continue;
    parts->last_launch = launch.begin;
    parts->end_known = launch.has_kernel;
  }
  if (all > 0 && times_.device_busy.empty())
    throw Error(
        ErrorCode::kData,
        fmt::format("{} has {} launches of kernels and no kernel: the device was not recorded, so that "
                    "nobody knows how long its steps are",
                    result_.file, all));
}

// A profiler that stops, or whose memory is full, leaves launches without their kernels. A step is whole when
// it lacks no larger share of them than the best one: calls that are captured into a graph have none.
void RankReader::leave_out_cut_off() {
  double least = 1;
  for (const auto& parts : steps_) least = std::min(least, share_without_kernel(parts));
  const bool alone = steps_.size() == 1;
  bool begin_known = true;
  std::vector<StepParts> kept;
  for (auto& parts : steps_) {
    const bool whole = alone ? parts.end_known || parts.without_kernel == parts.launches
                             : share_without_kernel(parts) <= least;
    const std::int64_t number = parts.step.number;
    if (!whole)
      result_.left_out.push_back({number, fmt::format("{} of its {} launches have no kernel in {}, so the "
                                                      "device's work is cut off",
                                                      parts.without_kernel, parts.launches, result_.file)});
    else if (!begin_known)
      result_.left_out.push_back(
          {number, "it begins when the step before ends, whose last kernel is not there"});
    const bool end_known = whole || parts.end_known;
    if (whole && begin_known) kept.push_back(std::move(parts));
    begin_known = end_known;
  }
  if (kept.empty())
    throw Error(
        ErrorCode::kData,
        fmt::format("{} has no step with all of its kernels: the profiler stopped before the device had "
                    "done its work; record one step more",
                    result_.file));
  steps_ = std::move(kept);
}

void RankReader::count_operators() {
  const auto step_of = [this](std::int64_t time) -> std::optional<std::size_t> {
    const auto* const parts = step_at(time);
    return parts ? std::optional(static_cast<std::size_t>(parts - steps_.data())) : std::nullopt;
  };
  operators_.count_calls(step_of);
  for (const auto& e : trace_.events) {
    if (e.kind != EventKind::kKernel && e.kind != EventKind::kCopy) continue;
    const Launch* launch = operators_.launch_of(e);
    if (const auto step = step_of(launched(e, launch))) operators_.add_work(e, launch, *step);
  }
  result_.operators = operators_.rows(times_.device);
  result_.operator_steps = static_cast<std::int64_t>(steps_.size());
}

}  // namespace paceline::analysis::traces
