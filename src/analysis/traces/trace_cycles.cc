// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_cycles.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace paceline::analysis::traces {
namespace {

// Strips from "<host>_<process>.<time>.pt.trace.json" the time and what follows; from other names the last
// part that is a number.
std::string writer_of(const std::string& file) {
  const auto name = file.find_last_of('/') + 1;
  return file.substr(0, std::min(file.find('.', name), file.size()));
}

bool is_one_process(const RankTrace& a, const RankTrace& b) {
  if (a.host != b.host || a.process != b.process || a.world != b.world || a.rank != b.rank) return false;
  return a.rank ? true : a.number == b.number && writer_of(a.file) == writer_of(b.file);
}

std::pair<std::int64_t, std::int64_t> span_of_numbers(const RankTrace& one) {
  const auto [least, most] = std::ranges::minmax(one.steps, {}, &TraceStep::number);
  return {least.number, most.number};
}

// The later recording has later steps.
bool is_behind(const RankTrace& one, const RankTrace& before) {
  if (one.steps.empty() || before.steps.empty()) return false;
  const std::int64_t shift = one.base_ns.value_or(0) - before.base_ns.value_or(0);
  return span_of_numbers(one).first > span_of_numbers(before).second &&
         one.steps.front().begin + shift >= before.steps.back().begin + before.steps.back().length;
}

template <typename T>
void append(std::vector<T>& all, std::vector<T> more) {
  std::ranges::move(more, std::back_inserter(all));
}

// Puts the times of later steps behind those of `steps` earlier ones.
void append_times(TimesByStep& times, const TimesByStep& later, std::int64_t steps) {
  if (later.empty()) return;
  times.resize(static_cast<std::size_t>(steps));
  times.insert(times.end(), later.begin(), later.end());
}

void move_behind(TraceOperator& op, std::int64_t steps) {
  const auto move = [&](TimesByStep& times) { append_times(times, std::exchange(times, {}), steps); };
  move(op.host_by_step), move(op.device_by_step);
  for (auto& kernel : op.kernels) move(kernel.device_by_step);
}

void join_kernels(std::vector<TraceKernel>& all, std::vector<TraceKernel> more, std::int64_t steps) {
  for (auto& kernel : more) {
    auto same = std::ranges::find(all, kernel.name, &TraceKernel::name);
    if (same == all.end()) same = all.insert(all.end(), {.name = kernel.name});
    same->calls += kernel.calls, same->device_ns += kernel.device_ns;
    append_times(same->device_by_step, kernel.device_by_step, steps);
  }
}

// `steps`: how many those of `all` are of.
void add_operators(std::vector<TraceOperator>& all, std::vector<TraceOperator> more, std::int64_t steps) {
  std::map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < all.size(); ++i) at[all[i].name] = i;
  for (auto& op : more) {
    const auto [place, is_new] = at.try_emplace(op.name, all.size());
    if (is_new) {
      move_behind(op, steps);
      all.push_back(std::move(op));
      continue;
    }
    TraceOperator& sum = all[place->second];
    sum.calls += op.calls, sum.host_ns += op.host_ns, sum.device_ns += op.device_ns;
    append_times(sum.host_by_step, op.host_by_step, steps);
    append_times(sum.device_by_step, op.device_by_step, steps);
    join_kernels(sum.kernels, std::move(op.kernels), steps);
  }
}

void add_recording(RankTrace& one, RankTrace later) {
  one.recordings += later.recordings;
  one.device |= later.device, one.has_loader |= later.has_loader;
  one.has_backward |= later.has_backward, one.has_optimizer |= later.has_optimizer;
  one.communication = std::max(one.communication, later.communication);
  const std::int64_t shift = later.base_ns.value_or(0) - one.base_ns.value_or(0);
  for (auto& step : later.steps) {
    step.begin += shift;
    for (auto& exchange : step.exchanges) exchange.begin += shift, exchange.end += shift;
  }
  append(one.steps, std::move(later.steps));
  append(one.left_out, std::move(later.left_out));
  append(one.notes, std::move(later.notes));
  add_operators(one.operators, std::move(later.operators), one.operator_steps);
  one.operator_steps += later.operator_steps;
  one.placed += later.placed;
}

}  // namespace

void join_recordings(std::vector<RankTrace>& ranks) {
  std::ranges::stable_sort(ranks, {}, [](const RankTrace& r) {
    return r.steps.empty() ? std::int64_t{0} : r.steps.front().number;
  });
  std::vector<RankTrace> joined;
  for (auto& one : ranks) {
    const auto before = std::ranges::find_if(
        joined, [&](const RankTrace& other) { return is_one_process(other, one) && is_behind(one, other); });
    if (before == joined.end())
      joined.push_back(std::move(one));
    else
      add_recording(*before, std::move(one));
  }
  ranks = std::move(joined);
}

}  // namespace paceline::analysis::traces
