// SPDX-License-Identifier: MIT
#include "support/profiled_calls.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace paceline::plugin_support {
namespace {

using plugin::ProfiledTime;

// Sums by name, in order of first occurrence.
class Sums {
 public:
  // Gives the name of a call its row.
  void meet(const ProfiledCall& call) { static_cast<void>(row_of(call)); }

  void add(const ProfiledCall& call, double total_ns, std::optional<double> self_ns) {
    auto& row = row_of(call);
    ++row.calls;
    row.total_ns += total_ns;
    if (self_ns) add_self(row, *self_ns);
  }
  // Adds device work that `call` launched.
  void add_work(const ProfiledCall& call, double ns) { add_self(row_of(call), ns); }

  plugin::StepProfile result() && {
    std::stable_sort(operators_.begin(), operators_.end(), [](const ProfiledTime& a, const ProfiledTime& b) {
      return std::tuple(a.self_ns.value_or(-1), a.total_ns) > std::tuple(b.self_ns.value_or(-1), b.total_ns);
    });
    return {std::move(scopes_), std::move(operators_), {}, {}, {}};
  }

 private:
  static void add_self(ProfiledTime& row, double ns) { row.self_ns = row.self_ns.value_or(0) + ns; }
  ProfiledTime& row_of(const ProfiledCall& call) {
    auto& rows = call.scope ? scopes_ : operators_;
    const auto [place, is_new] = places_.try_emplace({call.scope, call.name}, rows.size());
    if (is_new) rows.push_back({call.name, 0, 0, {}});
    return rows[place->second];
  }

  std::map<std::pair<bool, std::string>, std::size_t> places_;
  std::vector<ProfiledTime> scopes_, operators_;
};

// The calls of one thread that are open at a moment, the outermost first.
class OpenCalls {
 public:
  OpenCalls(Sums& sums, bool self_times) : sums_(sums), self_times_(self_times) {}

  // To be called in order of starts; of two that start together, with the longer first.
  void enter(ProfiledCall call) {
    while (!open_.empty() && open_.back().call.end_ns <= call.start_ns) leave();
    if (!open_.empty()) call.end_ns = std::min(call.end_ns, open_.back().call.end_ns);
    sums_.meet(call);
    const auto ns = static_cast<double>(call.end_ns - call.start_ns);
    if (!open_.empty()) open_.back().self_ns -= ns;
    const bool in_its_like = std::any_of(open_.begin(), open_.end(), [&](const Open& outer) {
      return outer.call.name == call.name && outer.call.scope == call.scope;
    });
    open_.push_back({std::move(call), ns, in_its_like ? 0 : ns});
  }
  void leave_all() {
    while (!open_.empty()) leave();
  }

 private:
  struct Open {
    ProfiledCall call;
    double self_ns, total_ns;
  };
  void leave() {
    const auto& last = open_.back();
    sums_.add(last.call, last.total_ns, self_times_ ? std::optional(last.self_ns) : std::nullopt);
    open_.pop_back();
  }

  Sums& sums_;
  bool self_times_;
  std::vector<Open> open_;
};

bool starts_before(const ProfiledCall& a, const ProfiledCall& b) {
  return std::tuple(a.thread, a.start_ns, -a.end_ns) < std::tuple(b.thread, b.start_ns, -b.end_ns);
}

double duration_of(const ProfiledCall& call) {
  return static_cast<double>(call.end_ns - call.start_ns);
}

void add_host_calls(const std::vector<ProfiledCall>& calls, Sums& sums, bool self_times) {
  OpenCalls open(sums, self_times);
  std::uint64_t thread = 0;
  for (const auto& call : calls) {
    if (call.on_device) continue;
    if (call.thread != thread) open.leave_all();
    thread = call.thread;
    if (call.beside)
      sums.add(call, duration_of(call), std::nullopt);
    else
      open.enter(call);
  }
  open.leave_all();
}

void add_device_work(const std::vector<ProfiledCall>& calls, Sums& sums) {
  std::map<std::uint64_t, const ProfiledCall*> by_number;
  for (const auto& call : calls)
    if (!call.on_device && !call.scope && call.number != 0) by_number[call.number] = &call;
  for (const auto& call : calls) {
    if (!call.on_device) continue;
    const auto starter = by_number.find(call.started_by);
    if (starter != by_number.end())
      sums.add_work(*starter->second, duration_of(call));
    else
      sums.add(call, duration_of(call), duration_of(call));
  }
}

}  // namespace

double busy_time(const std::vector<ProfiledCall>& calls) {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const auto& call : calls)
    if (call.on_device) spans.emplace_back(call.start_ns, call.end_ns);
  std::sort(spans.begin(), spans.end());
  double busy = 0;
  std::int64_t until = std::numeric_limits<std::int64_t>::min();
  for (const auto& [start, end] : spans) {
    busy += static_cast<double>(std::max<std::int64_t>(0, end - std::max(start, until)));
    until = std::max(until, end);
  }
  return busy;
}

plugin::StepProfile profile_of(std::vector<ProfiledCall> calls) {
  std::erase_if(calls, [](const ProfiledCall& call) { return call.launches; });
  std::stable_sort(calls.begin(), calls.end(), starts_before);
  const bool on_device =
      std::any_of(calls.begin(), calls.end(), [](const ProfiledCall& call) { return call.on_device; });
  Sums sums;
  add_host_calls(calls, sums, !on_device);
  if (on_device) add_device_work(calls, sums);
  auto profile = std::move(sums).result();
  if (on_device) profile.device_busy_ns = busy_time(calls);
  return profile;
}

}  // namespace paceline::plugin_support
