// SPDX-License-Identifier: MIT
#include "run/stored_speeds.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/error.h"
#include "result/run_directory.h"
#include "run/kinds.h"
#include "stats/median.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

using Params = std::map<std::string, std::string>;

constexpr std::size_t kMostRuns = 30;
constexpr int kDepth = 1;  // of run folders below the folder of an experiment

// Names of runs sort by time.
std::vector<fs::path> newest_runs(const fs::path& results) {
  std::vector<fs::path> runs;
  std::error_code error;
  for (fs::recursive_directory_iterator it(results, fs::directory_options::skip_permission_denied, error),
       end;
       !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (fs::exists(it->path() / "run_summary.json", unknown)) {
      runs.push_back(it->path());
      it.disable_recursion_pending();
    } else if (it.depth() >= kDepth) {
      it.disable_recursion_pending();
    }
  }
  std::ranges::sort(runs, std::greater(), [](const fs::path& run) { return run.filename(); });
  if (runs.size() > kMostRuns) runs.resize(kMostRuns);
  return runs;
}

std::string key_of(const std::string& case_id, const Params& params) {
  const auto device = params.find("device");
  return case_id + " " + (device == params.end() ? "" : device->second);
}

// Empty where an environment does not name its host.
std::string host_of(const nlohmann::json& environment) {
  if (!environment.is_object()) return {};
  const auto digest = environment.value(nlohmann::json::json_pointer("/os/host_sha256_16"), nlohmann::json());
  return digest.is_string() ? digest.get<std::string>() : "";
}

std::optional<StoredSpeed> speed_of(const result::CaseResult& one) {
  if (one.outcome != result::Outcome::kOk || !traits_of(one.benchmark.scenario).one_at_a_time) return {};
  const auto& p50 = one.headline.p50_ns.value ? one.headline.p50_ns.value : one.back_to_back_ns.value;
  std::vector<double> starts;
  for (const auto& repetition : one.repetitions)
    if (repetition.process_start_ns)
      starts.push_back(*repetition.process_start_ns + (repetition.load_ns ? *repetition.load_ns : 0));
  if (!p50 || starts.empty() || one.collective) return {};
  return StoredSpeed{*p50 * 1e-9, stats::median(starts) * 1e-9};
}

}  // namespace

StoredSpeeds::StoredSpeeds(const fs::path& results, const std::string& host) {
  if (host.empty()) return;
  for (const auto& folder : newest_runs(results)) try {
      const auto run = result::read_run(folder).run;
      if (host_of(run.environment) != host) continue;
      for (const auto& one : run.cases)
        if (const auto speed = speed_of(one))
          speeds_.try_emplace(key_of(one.case_id, one.benchmark.params), *speed);
    } catch (const Error&) {
      continue;
    }
}

std::optional<StoredSpeed> StoredSpeeds::of(const config::Case& c) const {
  Params params;
  kind_rules(c.kind).identify(c, params);
  const auto found = speeds_.find(key_of(c.id, params));
  return found == speeds_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace paceline::run
