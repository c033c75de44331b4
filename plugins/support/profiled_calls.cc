// SPDX-License-Identifier: MIT
#include "support/profiled_calls.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace paceline::plugin_support {
namespace {

using plugin::ProfiledTime;

// Sums by name, in the order in which the names came.
class Sums {
 public:
  // Its place among the names.
  void meet(const ProfiledCall& call) { static_cast<void>(row_of(call)); }

  void add(const ProfiledCall& call, double total_ns, std::optional<double> self_ns) {
    auto& row = row_of(call);
    ++row.calls;
    row.total_ns += total_ns;
    if (self_ns) row.self_ns = row.self_ns.value_or(0) + *self_ns;
  }

  plugin::StepProfile result() && {
    std::stable_sort(operators_.begin(), operators_.end(), [](const ProfiledTime& a, const ProfiledTime& b) {
      return std::tuple(a.self_ns.value_or(-1), a.total_ns) > std::tuple(b.self_ns.value_or(-1), b.total_ns);
    });
    return {std::move(scopes_), std::move(operators_), {}, {}};
  }

 private:
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
  explicit OpenCalls(Sums& sums) : sums_(sums) {}

  // In the order of their starts; of two that start together, the longer first.
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
    sums_.add(open_.back().call, open_.back().total_ns, open_.back().self_ns);
    open_.pop_back();
  }

  Sums& sums_;
  std::vector<Open> open_;
};

bool starts_before(const ProfiledCall& a, const ProfiledCall& b) {
  return std::tuple(a.thread, a.start_ns, -a.end_ns) < std::tuple(b.thread, b.start_ns, -b.end_ns);
}

}  // namespace

plugin::StepProfile profile_of(std::vector<ProfiledCall> calls) {
  std::stable_sort(calls.begin(), calls.end(), starts_before);
  Sums sums;
  OpenCalls open(sums);
  std::uint64_t thread = 0;
  for (const auto& call : calls) {
    if (call.thread != thread) open.leave_all();
    thread = call.thread;
    if (call.beside)
      sums.add(call, static_cast<double>(call.end_ns - call.start_ns), std::nullopt);
    else
      open.enter(call);
  }
  open.leave_all();
  return std::move(sums).result();
}

}  // namespace paceline::plugin_support
