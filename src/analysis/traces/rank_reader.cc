// SPDX-License-Identifier: MIT
#include "analysis/traces/rank_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/traces/intervals.h"
#include "base/error.h"
#include "stats/quantile.h"

namespace paceline::analysis::traces {
namespace {

constexpr double kStubOperators = 0.1;  // of the operators of other steps

bool is_of_host(const TraceEvent& e) {
  return e.kind == EventKind::kOperator || e.kind == EventKind::kAnnotation;
}

}  // namespace

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
  else if (std::ranges::none_of(trace_.events, is_of_host) && !trace_.events.empty())
    why =
        "has events of a device alone: which kernels belong to which step is only known with those of the "
        "host; record ProfilerActivity.CPU as well, and call prof.step() at the end of each step";
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

// Loaders, optimizers, scopes and gloo; the times in which the host computes.
void RankReader::read_host() {
  Intervals operators, handing_over;
  for (const auto& e : trace_.events) {
    if (e.kind != EventKind::kOperator && e.kind != EventKind::kAnnotation) continue;
    const Role is = role(e);
    if (is == Role::kHandsOver) {
      handing_over.push_back({e.begin, e.end});
      if (result_.communication == Communication::kNone) result_.communication = Communication::kLaunches;
    } else if (e.kind == EventKind::kOperator && is != Role::kCommunication && is != Role::kStep) {
      operators.push_back({e.begin, e.end});
    }
    StepParts* parts = step_at(e.begin);
    if (!parts) continue;
    parts->operators += e.kind == EventKind::kOperator ? 1 : 0;
    if (is == Role::kLoader) parts->loader.push_back({e.begin, e.end});
    if (is == Role::kOptimizer) parts->optimizer.push_back({e.begin, e.end});
    if (is == Role::kForwardScope) parts->forward_scopes.push_back({e.begin, e.end});
    if (is == Role::kBackwardScope) parts->backward_scopes.push_back({e.begin, e.end});
    if (is != Role::kCommunication) continue;
    result_.communication = std::max(result_.communication, Communication::kHost);
    parts->exchanges.push_back({.kind = kind_of_call(trace_.name_of(e)), .begin = e.begin, .end = e.end});
  }
  times_.computing = without(merged(std::move(operators)), merged(std::move(handing_over)));
}

// The backward pass goes from an autograd function to the next one until the thread of the steps does
// something else. DDP and FSDP end it, behind waiting for the other ranks.
void RankReader::read_backward() {
  std::vector<std::int64_t> until(trace_.threads.size());  // where the outermost operator of a thread ends
  StepParts* open = nullptr;
  for (const auto& e : trace_.events) {
    const Role is = role(e);
    const bool counts = e.kind == EventKind::kOperator || (is_of_host(e) && is == Role::kReducer);
    StepParts* parts = counts ? step_at(e.begin) : nullptr;
    if (!parts || e.begin < until[e.thread]) continue;
    until[e.thread] = e.end;
    const bool copies = is == Role::kReducer && !parts->backward.empty();
    if (is == Role::kAutograd || copies) {
      if (open == parts || copies)
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

// Whether less happens in a step than in the others: the profiler was left, or entered, in it.
bool RankReader::is_stub(std::size_t at) const {
  const StepParts& one = steps_[at];
  const auto works = [](const StepParts& p) { return !p.backward.empty() || !p.optimizer.empty(); };
  std::vector<double> operators;
  bool others_work = true;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (i == at) continue;
    operators.push_back(static_cast<double>(steps_[i].operators));
    others_work &= works(steps_[i]);
  }
  if (others_work && !works(one)) return true;
  return static_cast<double>(one.operators) < kStubOperators * stats::median(operators);
}

void RankReader::leave_out_stubs() {
  const auto leave_out = [&](std::size_t at) {
    result_.left_out.push_back(
        {steps_[at].step.number, "it is empty: the profiler was left or entered in it"});
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(at));
  };
  if (steps_.size() > 1 && is_stub(steps_.size() - 1)) leave_out(steps_.size() - 1);
  if (steps_.size() > 1 && is_stub(0)) leave_out(0);
}

// Reads the outermost operators with shapes before the end of the last backward pass, outside of it.
void RankReader::read_shapes() {
  std::vector<std::int64_t> until(trace_.threads.size());
  for (const auto& e : trace_.events) {
    const auto& inputs = trace_.details[e.details];
    StepParts* parts = inputs.elements > 0 ? step_at(e.begin) : nullptr;
    if (!parts || e.thread != parts->thread || e.begin < until[e.thread]) continue;
    if (!parts->backward.empty() && e.begin >= parts->backward.back().end) continue;
    if (contains(parts->backward, e.begin) || contains(parts->optimizer, e.begin) ||
        contains(parts->loader, e.begin))
      continue;
    until[e.thread] = e.end;
    parts->step.input_elements = parts->step.input_elements.value_or(0) + inputs.elements;
    ++parts->first_dims[inputs.first_dim];
  }
  const auto count = [](const auto& dim) { return dim.second; };
  for (auto& parts : steps_)
    if (!parts.first_dims.empty())
      parts.step.batch = std::ranges::max_element(parts.first_dims, {}, count)->first;
}

RankTrace RankReader::read() {
  result_.file = trace_.file;
  result_.rank = trace_.rank;
  result_.world = trace_.world;
  result_.host = trace_.host;
  result_.base_ns = trace_.base_ns;
  find_steps();
  result_.process = trace_.threads[steps_.front().thread].process;
  read_host();
  read_backward();
  leave_out_stubs();
  read_shapes();
  read_device();
  set_times();
  count_launches();
  if (times_.device) leave_out_cut_off();
  count_operators();
  result_.device = times_.device;
  for (auto& parts : steps_) result_.steps.push_back(finished(std::move(parts), times_));
  std::ranges::stable_sort(result_.steps, {}, &TraceStep::number);
  return std::move(result_);
}

RankTrace rank_trace(const Trace& trace) {
  return RankReader(trace).read();
}

}  // namespace paceline::analysis::traces
