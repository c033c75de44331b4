// SPDX-License-Identifier: MIT
#include "run/stored_speeds.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "config/option_table.h"
#include "result/run_directory.h"
#include "run/case/case_identity.h"
#include "run/kinds.h"
#include "stats/median.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostRuns = 30;
constexpr std::uintmax_t kMostBytes = 50'000'000;  // of all summaries that are read
constexpr int kDepth = 1;                          // of run folders below the folder of an experiment

// Names of runs sort by time.
std::vector<fs::path> newest_runs(const fs::path& results) {
  std::vector<std::pair<fs::path, std::uintmax_t>> runs;  // folder, bytes of its summary
  std::error_code error;
  for (fs::recursive_directory_iterator it(results, fs::directory_options::skip_permission_denied, error),
       end;
       !error && it != end; it.increment(error)) {
    std::error_code unknown;
    const auto summary = it->path() / result::kSummaryFile;
    if (fs::exists(summary, unknown)) {
      if (const auto bytes = fs::file_size(summary, unknown); !unknown) runs.emplace_back(it->path(), bytes);
      it.disable_recursion_pending();
    } else if (it.depth() >= kDepth) {
      it.disable_recursion_pending();
    }
  }
  std::ranges::sort(runs, std::greater(), [](const auto& run) { return run.first.filename(); });
  std::vector<fs::path> newest;
  std::uintmax_t sum = 0;
  for (auto& [folder, bytes] : runs)
    if (newest.size() < kMostRuns && bytes <= kMostBytes - sum)
      sum += bytes, newest.push_back(std::move(folder));
  return newest;
}

std::string key_of(const std::string& case_id, const std::string& device) {
  return case_id + " " + device;
}

// Empty where an environment does not name its host.
std::string host_of(const nlohmann::json& environment) {
  const nlohmann::json::json_pointer place("/os/host_sha256_16");
  if (!environment.is_object() || !environment.contains("os") || !environment.at("os").is_object() ||
      !environment.contains(place) || !environment.at(place).is_string())
    return {};
  return environment.at(place);
}

// Options about how long and how well is measured, none of which changes an iteration.
constexpr std::array<std::string_view, 25> kAside{"repetitions",
                                                  "iterations",
                                                  "stop.",
                                                  "warmup",
                                                  "accuracy.",
                                                  "expect",
                                                  "note",
                                                  "output_dir",
                                                  "experiment",
                                                  "idle_wait_s",
                                                  "allow_noisy",
                                                  "strict",
                                                  "baseline",
                                                  "cross_check",
                                                  "profil",
                                                  "layer_profile",
                                                  "confidence",
                                                  "measure_peak",
                                                  "timeout_s",
                                                  "checkpoint.",
                                                  "benchmark.measure",
                                                  "benchmark.warmup",
                                                  "training.epochs",
                                                  "eval.",
                                                  "device"};

bool is_aside(const std::string& name) {
  return std::ranges::any_of(kAside, [&](std::string_view begin) { return name.starts_with(begin); });
}

// Options that a stored run lacks had their default; those without one were not set.
bool has_default(const std::string& name) {
  const auto* option = config::find_option(name, config::kAnyKind | config::kPlanLevel);
  return option && !option->fallback.empty();
}

bool does_the_same(const nlohmann::json& stored, const nlohmann::json& asked) {
  if (!stored.is_object()) return false;
  for (const auto& [name, value] : asked.items())
    if (!is_aside(name) && (stored.contains(name) ? stored.at(name) != value : !has_default(name)))
      return false;
  return std::ranges::all_of(
      stored.items(), [&](const auto& item) { return is_aside(item.key()) || asked.contains(item.key()); });
}

// A model that is no file, or a file that stood there as it is when the run began.
bool is_unchanged(const nlohmann::json& config, const std::string& since_utc) {
  const auto model = config.find("model");
  struct stat info {};
  if (model == config.end() || !model->is_string() ||
      ::stat(model->get_ref<const std::string&>().c_str(), &info) != 0)
    return true;
  return format_utc(std::max(info.st_mtime, info.st_ctime)) <= since_utc;
}

constexpr double kLongestNs = 1e15;  // eleven days

bool is_time(double ns) {
  return ns > 0 && ns < kLongestNs;
}

std::optional<StoredSpeed> speed_of(const result::CaseResult& one) {
  if (one.outcome != result::Outcome::kOk || !traits_of(one.benchmark.scenario).one_at_a_time) return {};
  const auto& p50 = one.headline.p50_ns.value ? one.headline.p50_ns.value : one.back_to_back_ns.value;
  std::vector<double> starts;
  for (const auto& repetition : one.repetitions)
    if (repetition.process_start_ns)
      starts.push_back(*repetition.process_start_ns + (repetition.load_ns ? *repetition.load_ns : 0));
  if (!p50 || starts.empty() || one.collective() || !is_time(*p50) || !is_time(stats::median(starts)))
    return {};
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
          measured_.emplace(key_of(one.case_id, one.benchmark.device.empty() ? "cpu" : one.benchmark.device),
                            Measured{*speed, one.config_effective, run.started_utc});
    } catch (const Error&) {
      continue;
    }
}

std::optional<StoredSpeed> StoredSpeeds::of(const config::Case& c) const {
  const auto [first, end] = measured_.equal_range(key_of(c.id, kind_rules(c.kind).device(c)));
  if (first == end) return std::nullopt;
  const auto asked = new_case_result(c, "").config_effective;
  const auto found = std::find_if(first, end, [&](const auto& entry) {
    return does_the_same(entry.second.config, asked) && is_unchanged(asked, entry.second.started_utc);
  });
  return found == end ? std::nullopt : std::optional(found->second.speed);
}

}  // namespace paceline::run
