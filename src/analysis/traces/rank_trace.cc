// SPDX-License-Identifier: MIT
#include "analysis/traces/rank_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "analysis/traces/intervals.h"
#include "analysis/traces/rank_operators.h"
#include "analysis/traces/step_parts.h"
#include "analysis/traces/trace_roles.h"
#include "base/error.h"

namespace paceline::analysis::traces {
namespace {

class RankReader {
 public:
  explicit RankReader(const Trace& trace)
      : trace_(trace), roles_(roles_of(trace.names)), operators_(trace, roles_) {}
  RankTrace read();

 private:
  [[nodiscard]] Role role(const TraceEvent& e) const { return role_of(e, roles_); }
  StepParts* step_at(std::int64_t time);
  void find_steps();
  void leave_out_untimed();
  [[noreturn]] void refuse_without_steps() const;
  void require_one_process() const;
  void read_host();
  void read_backward();
  void read_shapes();
  void read_device();
  void add_kernel(StepParts& parts, const TraceEvent& e, std::int64_t launched);
  void add_communication(StepParts& parts, const TraceEvent& e);
  [[nodiscard]] std::int64_t launched(const TraceEvent& e, const Launch* launch) const;
  void set_times();
  void count_launches();
  void leave_out_cut_off();
  void count_operators();
  void finish(StepParts& parts);

  const Trace& trace_;
  std::vector<Role> roles_;  // of the trace's names
  RankOperators operators_;
  std::vector<StepParts> steps_;  // by begin
  Intervals computing_, device_busy_;
  std::int64_t earlier_end_ =
      std::numeric_limits<std::int64_t>::min();  // of kernels that were launched before the trace begins
  RankTrace result_;
};

StepParts* RankReader::step_at(std::int64_t time) {
  auto next = std::ranges::upper_bound(steps_, time, {}, [](const StepParts& p) { return p.host.begin; });
  if (next == steps_.begin()) return nullptr;
  --next;
  return time < next->host.end ? &*next : nullptr;
}

void RankReader::refuse_without_steps() const {
  const char* why =
      "has no steps: record it with torch.profiler.schedule and call prof.step() at the end of each step, so "
      "that it has ProfilerStep#N";
  if (!result_.left_out.empty())
    why = "has no step with a time: ts and dur of all ProfilerStep#N are 0; record it again";
  else if (trace_.events.empty() && trace_.uncategorised > 0)
    why =
        "has events of a device without a category (cat), so that operators cannot be distinguished from "
        "kernels: give the file as export_chrome_trace wrote it";
  throw Error(ErrorCode::kData, fmt::format("{} {}", trace_.file, why));
}

void RankReader::leave_out_untimed() {
  for (const auto name : trace_.untimed_annotations) {
    const auto number = roles_[name] == Role::kStep ? step_number(trace_.names[name]) : std::nullopt;
    if (number) result_.left_out.push_back({*number, "it has no time (ts and dur are 0, or it has no end)"});
  }
  const auto all = static_cast<std::int64_t>(trace_.events.size()) + trace_.untimed + trace_.uncategorised;
  for (const auto& [count, lack] : {std::pair{trace_.untimed, "time (ts and dur are 0, or there is no end)"},
                                    {trace_.uncategorised, "category (cat)"}})
    if (count > 0)
      result_.notes.push_back(
          fmt::format("{} of {} events of {} have no {}: parts of its steps may be too short", count, all,
                      result_.file, lack));
}

// Ranks that somebody merged into one file have steps of several processes, or steps beside each other.
void RankReader::require_one_process() const {
  std::set<std::uint64_t> processes;
  const StepParts* beside = nullptr;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    processes.insert(trace_.threads[steps_[i].thread].process);
    if (i == 0) continue;
    const auto &before = steps_[i - 1].host, &one = steps_[i].host;
    const std::int64_t shorter = std::min(before.end - before.begin, one.end - one.begin);
    if (before.end - one.begin > shorter / 2 && shorter > 0) beside = &steps_[i];
  }
  if (processes.size() < 2 && !beside) return;
  throw Error(
      ErrorCode::kData,
      fmt::format(
          "{} has {}: several ranks in one file; give each rank a separate file, trace_rank0.json and so on",
          result_.file,
          processes.size() > 1 ? fmt::format("steps of {} processes", processes.size())
                               : fmt::format("steps {} and {} at the same time", (beside - 1)->step.number,
                                             beside->step.number)));
}

void RankReader::find_steps() {
  for (const auto& e : trace_.events) {
    const bool host = e.kind == EventKind::kAnnotation || e.kind == EventKind::kOperator;
    const auto number =
        host && role(e) == Role::kStep ? step_number(trace_.name_of(e)) : std::optional<std::int64_t>();
    if (!number) continue;
    StepParts& parts = steps_.emplace_back();
    parts.step.number = *number;
    parts.host = {e.begin, e.end};
    parts.thread = e.thread;
  }
  leave_out_untimed();
  if (steps_.empty()) refuse_without_steps();
  require_one_process();
}

void RankReader::add_communication(StepParts& parts, const TraceEvent& e) {
  parts.communication.push_back({e.begin, e.end});
  if (role(e) == Role::kTogether) parts.together.push_back({e.begin, e.end});
  if (role(e) == Role::kPointToPoint) parts.point_to_point.push_back({e.begin, e.end});
}

// Loaders, optimizers, scopes and gloo; the times in which the host computes.
void RankReader::read_host() {
  Intervals operators, handing_over;
  for (const auto& e : trace_.events) {
    if (e.kind != EventKind::kOperator && e.kind != EventKind::kAnnotation) continue;
    const Role is = role(e);
    if (is == Role::kHandsOver) {
      handing_over.push_back({e.begin, e.end});
      if (result_.communication == Communication::kNone) result_.communication = Communication::kLaunches;
    } else if (e.kind == EventKind::kOperator && !is_communication(is) && is != Role::kStep) {
      operators.push_back({e.begin, e.end});
    }
    StepParts* parts = step_at(e.begin);
    if (!parts) continue;
    if (is == Role::kLoader) parts->loader.push_back({e.begin, e.end});
    if (is == Role::kOptimizer) parts->optimizer.push_back({e.begin, e.end});
    if (is == Role::kForwardScope) parts->forward_scopes.push_back({e.begin, e.end});
    if (is == Role::kBackwardScope) parts->backward_scopes.push_back({e.begin, e.end});
    if (!is_communication(is)) continue;
    result_.communication = std::max(result_.communication, Communication::kHost);
    add_communication(*parts, e);
  }
  computing_ = without(merged(std::move(operators)), merged(std::move(handing_over)));
}

// The backward pass goes from an autograd function to the next one until the thread of the steps does
// something else.
void RankReader::read_backward() {
  std::vector<std::int64_t> until(trace_.threads.size());  // where the outermost operator of a thread ends
  StepParts* open = nullptr;
  for (const auto& e : trace_.events) {
    StepParts* parts = e.kind == EventKind::kOperator ? step_at(e.begin) : nullptr;
    if (!parts || e.begin < until[e.thread]) continue;
    until[e.thread] = e.end;
    const Role is = role(e);
    if (is == Role::kAutograd || (is == Role::kReducer && open == parts)) {
      if (open == parts)
        parts->backward.back().end = std::max(parts->backward.back().end, e.end);
      else
        parts->backward.push_back({e.begin, e.end});
      open = parts;
    } else if (e.thread == parts->thread && is == Role::kOther) {
      open = nullptr;
    }
  }
  for (auto& parts : steps_) {
    parts.backward = merged(parts.backward_scopes.empty() ? parts.backward : parts.backward_scopes);
    parts.optimizer = merged(parts.optimizer);
    parts.loader = merged(parts.loader);
    result_.has_backward |= !parts.backward.empty();
    result_.has_optimizer |= !parts.optimizer.empty();
    result_.has_loader |= !parts.loader.empty();
  }
}

// Of the outermost operators with shapes before the end of the last backward pass, and not in one.
void RankReader::read_shapes() {
  if (trace_.inputs.size() == 1) return;
  std::vector<std::int64_t> until(trace_.threads.size());
  for (const auto& e : trace_.events) {
    StepParts* parts = e.inputs != 0 ? step_at(e.begin) : nullptr;
    if (!parts || e.thread != parts->thread || e.begin < until[e.thread]) continue;
    if (!parts->backward.empty() && e.begin >= parts->backward.back().end) continue;
    if (contains(parts->backward, e.begin) || contains(parts->optimizer, e.begin) ||
        contains(parts->loader, e.begin))
      continue;
    until[e.thread] = e.end;
    const auto& inputs = trace_.inputs[e.inputs];
    parts->step.input_elements = parts->step.input_elements.value_or(0) + inputs.elements;
    ++parts->first_dims[inputs.first_dim];
  }
  const auto count = [](const auto& dim) { return dim.second; };
  for (auto& parts : steps_)
    if (!parts.first_dims.empty())
      parts.step.batch = std::ranges::max_element(parts.first_dims, {}, count)->first;
}

void RankReader::add_kernel(StepParts& parts, const TraceEvent& e, std::int64_t launched) {
  parts.device_end = std::max(parts.device_end, e.end);
  if (is_communication(role(e))) {
    if (result_.communication != Communication::kDevice)
      for (auto& other : steps_)
        other.communication.clear(), other.together.clear(), other.point_to_point.clear();
    result_.communication = Communication::kDevice;
    return add_communication(parts, e);
  }
  const std::size_t part = contains(parts.backward, launched)    ? 1
                           : contains(parts.optimizer, launched) ? 2
                                                                 : 0;
  parts.kernels.at(part).push_back({e.begin, e.end});
}

// When the host launched work of the device: the device runs behind it. Without any calls of the host in the
// trace, when the work begins.
std::int64_t RankReader::launched(const TraceEvent& e, const Launch* launch) const {
  if (launch) return launch->begin;
  return operators_.launches().empty() ? e.begin : std::numeric_limits<std::int64_t>::min();
}

// A kernel belongs to the step and the part of it that launched it.
void RankReader::read_device() {
  Intervals kernels;
  for (const auto& e : trace_.events) {
    if (e.kind != EventKind::kKernel && e.kind != EventKind::kCopy) continue;
    device_busy_.push_back({e.begin, e.end});
    const bool kernel = e.kind == EventKind::kKernel;
    if (kernel && !is_communication(role(e))) kernels.push_back({e.begin, e.end});
    Launch* launch = operators_.launch_of(e);
    if (launch) launch->heard = true;
    if (!launch && !operators_.launches().empty() && e.begin < steps_.front().host.end)
      earlier_end_ = std::max(earlier_end_, e.end);
    StepParts* parts = kernel ? step_at(launched(e, launch)) : nullptr;
    if (parts) add_kernel(*parts, e, launched(e, launch));
  }
  result_.device = !kernels.empty();
  device_busy_ = merged(std::move(device_busy_));
  if (result_.device) computing_ = merged(std::move(kernels));
}

// On a device a step begins and ends with the device's work, or with the host's where that is later.
void RankReader::set_times() {
  std::int64_t before = earlier_end_;
  for (auto& parts : steps_) {
    const std::int64_t end = std::max({before, parts.host.end, parts.device_end});
    parts.step.begin = std::max(parts.host.begin, before);
    parts.step.length = (result_.device ? end : parts.host.end) - parts.step.begin;
    if (result_.device) before = end;
  }
}

void RankReader::count_launches() {
  std::int64_t all = 0;
  for (const auto& launch : operators_.launches()) {
    StepParts* parts = launch.of_kernel ? step_at(launch.begin) : nullptr;
    if (!parts) continue;
    ++parts->launches;
    ++all;
    if (!launch.heard) ++parts->unheard;
    if (launch.begin < parts->last_launch) continue;
    parts->last_launch = launch.begin;
    parts->end_known = launch.heard;
  }
  if (all > 0 && device_busy_.empty())
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
  for (const auto& parts : steps_) least = std::min(least, share_of_unheard(parts));
  const bool alone = steps_.size() == 1;
  bool begin_known = true;
  std::vector<StepParts> kept;
  for (auto& parts : steps_) {
    const bool whole =
        alone ? parts.end_known || parts.unheard == parts.launches : share_of_unheard(parts) <= least;
    const std::int64_t number = parts.step.number;
    if (!whole)
      result_.left_out.push_back({number, fmt::format("{} of its {} launches have no kernel in {}, so the "
                                                      "device's work is cut off",
                                                      parts.unheard, parts.launches, result_.file)});
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
  const auto in_step = [this](std::int64_t time) { return step_at(time) != nullptr; };
  operators_.count_calls(in_step);
  for (const auto& e : trace_.events) {
    if (e.kind != EventKind::kKernel && e.kind != EventKind::kCopy) continue;
    const Launch* launch = operators_.launch_of(e);
    if (in_step(launched(e, launch))) operators_.add_work(e, launch);
  }
  result_.operators = operators_.rows(result_.device);
  result_.operator_steps = static_cast<std::int64_t>(steps_.size());
}

// Every moment of the step goes to the first part that has it.
void RankReader::finish(StepParts& parts) {
  TraceStep& step = parts.step;
  const Intervals whole{{step.begin, step.begin + step.length}};
  const Intervals communication = common(merged(std::move(parts.communication)), whole);
  const Intervals exposed = without(communication, computing_);
  const Intervals together = merged(std::move(parts.together));
  const Intervals rooted = without(communication, together);
  step.together = length(together);
  step.point_to_point = length(merged(std::move(parts.point_to_point)));
  step.communication = length(communication);
  step.exposed = length(exposed);
  step.exposed_together = length(without(exposed, rooted));
  Intervals left = without(whole, exposed);
  if (result_.device) {
    step.backward = claim(left, merged(std::move(parts.kernels[1])));
    step.optimizer = claim(left, merged(std::move(parts.kernels[2])));
    step.forward = claim(left, merged(std::move(parts.kernels[0])));
    step.data_wait = claim(left, without(parts.loader, device_busy_));
    step.idle = length(without(whole, device_busy_));
  } else {
    step.data_wait = claim(left, parts.loader);
    step.optimizer = claim(left, parts.optimizer);
    step.backward = claim(left, parts.backward);
    Intervals until_backward = whole;
    if (!parts.backward.empty()) until_backward.back().end = parts.backward.back().end;
    step.forward = claim(left, parts.forward_scopes.empty() ? common(until_backward, computing_)
                                                            : merged(std::move(parts.forward_scopes)));
  }
  step.rest = length(left);
  result_.steps.push_back(step);
}

RankTrace RankReader::read() {
  result_.file = trace_.file;
  result_.rank = trace_.rank;
  result_.world = trace_.world;
  result_.host = trace_.host;
  result_.base_ns = trace_.base_ns;
  find_steps();
  read_host();
  read_backward();
  read_shapes();
  read_device();
  set_times();
  count_launches();
  if (result_.device) leave_out_cut_off();
  count_operators();
  for (auto& parts : steps_) finish(parts);
  std::ranges::stable_sort(result_.steps, {}, &TraceStep::number);
  return std::move(result_);
}

}  // namespace

RankTrace rank_trace(const Trace& trace) {
  return RankReader(trace).read();
}

}  // namespace paceline::analysis::traces
