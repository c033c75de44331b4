// SPDX-License-Identifier: MIT
#include "analysis/traces/rank_operators.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace paceline::analysis::traces {
namespace {

struct OpenOperator {
  std::int64_t end;
  std::uint32_t name;
};

// The operator in which an event begins, of those that are open on each thread; closes the others.
const OpenOperator* innermost_at(std::vector<std::vector<OpenOperator>>& open, const TraceEvent& e) {
  auto& stack = open[e.thread];
  while (!stack.empty() && stack.back().end <= e.begin) stack.pop_back();
  return stack.empty() ? nullptr : &stack.back();
}

// Adds to a total and to its part of one step.
void add_time(std::int64_t& all, TimesByStep& by_step, std::size_t step, std::int64_t ns) {
  if (by_step.size() <= step) by_step.resize(step + 1);
  all += ns, by_step[step] += ns;
}

// 0 is what profilers write where they lost the number, and the first number of others.
bool counts_from_zero(const Trace& trace) {
  std::size_t launches = 0, work = 0;
  for (const auto& e : trace.events) {
    if (e.correlation != 0) continue;
    launches += e.kind == EventKind::kLaunch ? 1 : 0;
    work += e.kind == EventKind::kKernel || e.kind == EventKind::kCopy ? 1 : 0;
  }
  return launches == 1 && work <= 1;
}

}  // namespace

RankOperators::RankOperators(const Trace& trace, const std::vector<Role>& roles)
    : trace_(trace), least_(counts_from_zero(trace) ? 0 : 1), by_name_(trace.names.size()) {
  std::vector<std::vector<OpenOperator>> open(trace.threads.size());
  for (const auto& e : trace.events) {
    if (e.kind != EventKind::kOperator && e.kind != EventKind::kLaunch) continue;
    const auto* op = innermost_at(open, e);
    if (e.kind == EventKind::kOperator) open[e.thread].push_back({e.end, e.name});
    if (e.kind == EventKind::kOperator || e.correlation < least_) continue;
    launches_.push_back({.correlation = e.correlation,
                         .begin = e.begin,
                         .name = op ? op->name : Launch::kNone,
                         .thread = e.thread,
                         .of_kernel = role_of(e, roles) == Role::kLaunch});
  }
  std::ranges::sort(launches_, {}, &Launch::correlation);
}

// Self times: an operator's time less that of the operators which it calls on its thread.
void RankOperators::count_calls(const std::function<std::optional<std::size_t>(std::int64_t)>& step_of) {
  std::vector<std::vector<OpenOperator>> open(trace_.threads.size());
  const auto add = [&](std::uint32_t name, std::size_t step, std::int64_t ns) {
    add_time(by_name_[name].host_ns, by_name_[name].host_by_step, step, ns);
  };
  for (const auto& e : trace_.events) {
    const auto step = e.kind == EventKind::kOperator ? step_of(e.begin) : std::nullopt;
    if (!step) continue;
    if (const auto* caller = innermost_at(open, e)) add(caller->name, *step, e.begin - e.end);
    open[e.thread].push_back({e.end, e.name});
    add(e.name, *step, e.end - e.begin);
    ++by_name_[e.name].calls;
  }
}

Launch* RankOperators::launch_of(const TraceEvent& work) {
  const auto at = std::ranges::lower_bound(launches_, work.correlation, {}, &Launch::correlation);
  if (work.correlation < least_ || at == launches_.end() || at->correlation != work.correlation)
    return nullptr;
  return &*at;
}

// Work that no operator launched has a row of its own name.
void RankOperators::add_work(const TraceEvent& work, const Launch* launch, std::size_t step) {
  const bool known = launch != nullptr && launch->name != Launch::kNone;
  auto& row = by_name_[known ? launch->name : work.name];
  add_time(row.device_ns, row.device_by_step, step, work.end - work.begin);
  if (!known) return void(++row.calls);
  auto& kernel = kernels_[{launch->name, work.name}];
  add_time(kernel.device_ns, kernel.device_by_step, step, work.end - work.begin);
  ++kernel.calls;
}

std::vector<TraceOperator> RankOperators::rows(bool on_device) {
  std::vector<TraceOperator> rows;
  for (auto& [names, kernel] : kernels_) {
    kernel.name = trace_.names[names.second];
    by_name_[names.first].kernels.push_back(std::move(kernel));
  }
  for (std::size_t i = 0; i < by_name_.size(); ++i) {
    if (by_name_[i].calls == 0) continue;
    by_name_[i].name = trace_.names[i];
    rows.push_back(std::move(by_name_[i]));
  }
  std::ranges::stable_sort(rows, [on_device](const TraceOperator& a, const TraceOperator& b) {
    return on_device ? std::tie(a.device_ns, a.host_ns) > std::tie(b.device_ns, b.host_ns)
                     : a.host_ns > b.host_ns;
  });
  return rows;
}

}  // namespace paceline::analysis::traces
