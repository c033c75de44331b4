// SPDX-License-Identifier: MIT
#include "analysis/traces/host_calls.h"

#include <algorithm>
#include <array>
#include <set>

namespace paceline::analysis::traces {
namespace {

constexpr std::array kMadeOfPairs{CallKind::kAllToAll, CallKind::kGather, CallKind::kScatter};

// Derives the kind of the call that an event belongs to.
CallKind kind_in(const Trace& trace, const TraceEvent& e) {
  const auto& details = trace.details[e.details];
  return details.call != CallKind::kUnknown ? details.call : kind_of_call(trace.name_of(e));
}

bool is_exchange(const HostCall& call) {
  return is_collective(call.kind) || is_point_to_point(call.kind);
}

}  // namespace

HostCalls::HostCalls(const Trace& trace, const std::vector<Role>& roles) : by_thread_(trace.threads.size()) {
  for (const auto& e : trace.events) {
    const bool host = e.kind == EventKind::kOperator || e.kind == EventKind::kAnnotation;
    if (!host || role_of(e, roles) != Role::kHandsOver) continue;
    auto& calls = by_thread_[e.thread];
    if (calls.empty() || calls.back().end <= e.begin) calls.push_back({.begin = e.begin, .end = e.end});
    HostCall& call = calls.back();
    if (const CallKind kind = kind_in(trace, e); kind != CallKind::kUnknown) call.kind = kind;
    if (const auto group = trace.details[e.details].group; group != 0) call.group = group;
  }
}

HostCall* HostCalls::at(std::uint32_t thread, std::int64_t time) {
  auto& calls = by_thread_[thread];
  const auto next = std::ranges::upper_bound(calls, time, {}, &HostCall::begin);
  return next == calls.begin() || time >= (next - 1)->end ? nullptr : &*(next - 1);
}

std::vector<const HostCall*> HostCalls::without_kernel() const {
  std::vector<const HostCall*> all;
  for (const auto& calls : by_thread_)
    for (const auto& call : calls)
      if (!call.has_kernel && is_exchange(call)) all.push_back(&call);
  std::ranges::stable_sort(all, {}, &HostCall::begin);
  return all;
}

CallKind HostCalls::kind_of_pairs() const {
  std::set<CallKind> kinds;
  for (const auto& calls : by_thread_)
    for (const auto& call : calls)
      if (is_point_to_point(call.kind))
        kinds.insert(CallKind::kSend);
      else if (std::ranges::find(kMadeOfPairs, call.kind) != kMadeOfPairs.end())
        kinds.insert(call.kind);
  return kinds.size() == 1 ? *kinds.begin() : CallKind::kUnknown;
}

}  // namespace paceline::analysis::traces
