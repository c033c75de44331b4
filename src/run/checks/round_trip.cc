// SPDX-License-Identifier: MIT
// Lets two ranks on this machine meet and talk.
#include <fmt/format.h>

#include "base/scratch_folder.h"
#include "base/units.h"
#include "pass/pass.h"
#include "run/case/plugin_choice.h"
#include "run/checks/machine_checks.h"
#include "run/executors.h"
#include "stats/median.h"

namespace paceline::run {
namespace {

using answer::Verdict;
using host::CheckResult;

constexpr const char* kBackend = "gloo";
constexpr double kMeetingTimeoutS = 20;
constexpr std::int64_t kBytes = 4, kRounds = 100;

pass::PassSpec two_ranks(const std::string& plugin) {
  pass::PassSpec spec;
  spec.kind = pass::PassKind::kCollective;
  spec.case_id = "round trip";
  spec.world_size = 2;
  spec.settings.threads = 1;
  spec.loop.stop.n_min = spec.loop.stop.n_max = kRounds;
  spec.loop.stop.t_min_ns = spec.loop.stop.t_max_ns = 0;
  spec.ranks.group_timeout_s = spec.ranks.rendezvous.timeout_s = kMeetingTimeoutS / 2;
  pass::CollectiveSpec smallest;
  smallest.sizes = {kBytes};
  spec.task = smallest;
  for (const auto role : {plugin::Role::kBackend, plugin::Role::kCommunicator})
    spec.use(role, kBackend, plugin);
  return spec;
}

CheckResult round_trip_result(const process::WorkerOutcome& outcome) {
  constexpr const char* kFix =
      "paceline comm --ranks 2 repeats it with a log; look at firewall rules for 127.0.0.1";
  if (!outcome.ok) return {Verdict::kNo, outcome.reason, kFix};
  const auto& times = outcome.report.get<pass::SweepReport>().times;
  if (times.empty() || times.front().sync_ns.empty() || times.front().sync_ns.front().empty())
    return {Verdict::kNo, "the ranks met, but reported no time", kFix};
  const auto& first = times.front();
  if (first.wrong > 0) return {Verdict::kNo, "the ranks met, but received wrong numbers", kFix};
  const std::vector<double> ns(first.sync_ns.front().begin(), first.sync_ns.front().end());
  return {Verdict::kYes,
          fmt::format("2 ranks met over {}; all_reduce of {} bytes takes {}", kBackend, first.bytes,
                      format_duration_ns(stats::median(ns))),
          {}};
}

CheckResult check_round_trip(const std::atomic<bool>& interrupt) {
  const EngineDirectory engines(plugin::read_manifests(plugin::plugin_dir()));
  const auto home = engines.find(plugin::Role::kCommunicator, kBackend);
  if (home.file.empty()) return {Verdict::kNotAsked, home.unavailable, {}};
  const auto logs = ScratchFolder::below_temp("round-trip");
  const process::WorkerRequest request{
      two_ranks(home.file.string()), {}, logs.path() / "log.txt", {}, kMeetingTimeoutS};
  return round_trip_result(ProcessExecutor().run(request, interrupt, {}));
}

}  // namespace

host::CheckedRow round_trip(const std::atomic<bool>& interrupt) {
  auto rows = host::run_checks(
      {{"round trip", {host::Purpose::kMultiRankTraining}, [&] { return check_round_trip(interrupt); }}});
  return rows.front();
}

}  // namespace paceline::run
