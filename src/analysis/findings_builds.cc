// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "analysis/ratio_verdict.h"
#include "base/numbered_build.h"
#include "base/units.h"
#include "result/figures/pairing.h"
#include "stats/variance_components.h"

// Findings about builds of one model: how much they vary beyond what processes do (methodology: builds).
namespace paceline::analysis {
namespace {

constexpr double kBuildSpreadFloor = 0.01;  // between builds; smaller spreads are not worth a warning

std::vector<double> process_medians(const CaseResult& one) {
  std::vector<double> medians;
  for (const auto& repetition : one.repetitions)
    if (repetition.p50_ns && *repetition.p50_ns > 0) medians.push_back(*repetition.p50_ns);
  return medians;
}

// Words that the compared builds have in common.
std::string words_without_build(const CaseResult& one) {
  result::Benchmark alike = one.benchmark;
  alike.model = first_build(alike.model);
  return fmt::format("{} with {} threads{}", describe_without(alike, ""), alike.threads,
                     alike.cache_mode == "warm" ? "" : ", caches " + alike.cache_mode);
}

// Builds of one model that were measured alike, the fastest first.
struct BuildGroup {
  std::string subject;
  Cases builds;
  stats::VarianceComponents variance;
};

std::optional<stats::VarianceComponents> variance_of(const Cases& builds) {
  std::vector<std::vector<double>> medians;
  for (const CaseResult* one : builds) medians.push_back(process_medians(*one));
  return stats::variance_components(medians);
}

std::vector<BuildGroup> build_groups(const RunResult& run) {
  std::map<std::string, Cases> by_subject;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || !one.headline.p50_ns.value) continue;
    by_subject[words_without_build(one)].push_back(&one);
  }
  std::vector<BuildGroup> groups;
  for (auto& [subject, builds] : by_subject) {
    std::sort(builds.begin(), builds.end(), [](const auto* a, const auto* b) {
      return *a->headline.p50_ns.value < *b->headline.p50_ns.value;
    });
    if (const auto variance = variance_of(builds)) groups.push_back({subject, builds, *variance});
  }
  return groups;
}

std::string evidence_of(const BuildGroup& group) {
  const auto& v = group.variance;
  return fmt::format(
      "one-way analysis of variance over the medians of {} processes: F = {}, and {} is needed",
      format_fixed(v.groups_df + v.processes_df + 1, 0), format_fixed(v.f, 1), format_fixed(v.f_critical, 1));
}

Finding finding_of(const BuildGroup& group, std::string text, std::string advice) {
  return finding_about(group.builds, std::move(text), evidence_of(group), std::move(advice));
}

std::string medians_text(const BuildGroup& group) {
  return fmt::format("{} to {}", format_duration_ns(*group.builds.front()->headline.p50_ns.value),
                     format_duration_ns(*group.builds.back()->headline.p50_ns.value));
}

Finding different(const RunResult&, const BuildGroup& group) {
  return finding_of(
      group,
      fmt::format("{}: {} builds have medians of {}; between builds they vary by {}, between processes of "
                  "one build by {} (standard deviations).",
                  group.subject, group.builds.size(), medians_text(group),
                  format_percent(group.variance.between_frac), format_percent(group.variance.within_frac)),
      fmt::format("Do not compare one build with another thing: quote the range, or ship the fastest file, "
                  "{}, and measure that.",
                  group.builds.front()->benchmark.model));
}

// Builds that were measured at different times differ for other reasons too.
bool all_in_turns(const RunResult& run, const BuildGroup& group) {
  const CaseResult& first = *group.builds.front();
  return std::all_of(group.builds.begin(), group.builds.end(), [&](const CaseResult* one) {
    return one == &first || result::in_turns(*one, first, run.resumed_utc);
  });
}

// States what the ratio of slowest to fastest says about all; `turns`: all ran in turns.
std::string difference_text(const RatioVerdict& judged, bool turns) {
  if (!turns) return "whether they differ is not claimed: not all of them ran in turns";
  if (judged.claim == Claim::kNone) return "whether they differ is not claimed: " + judged.reason;
  std::string words = "whether they differ cannot be said";
  if (judged.claim == Claim::kEqual)
    words = fmt::format("they are equal within {}", format_percent(judged.margin, 0));
  if (judged.claim == Claim::kMore)
    words = "the two outermost differ, but no spread between all of them is shown";
  if (!judged.no_size.empty()) return words + without_size(judged.no_size);
  return fmt::format("{} (slowest over fastest {})", words, range_of(*judged.ratio));
}

// Where no difference was shown, builds are equal only if a relevant difference is excluded.
Finding not_different(const RunResult& run, const BuildGroup& group) {
  const CaseResult &slowest = *group.builds.back(), &fastest = *group.builds.front();
  const auto judged = judge_ratio(run, Figure::kLatency, slowest, fastest);
  const bool turns = all_in_turns(run, group), equal = turns && judged.claim == Claim::kEqual;
  return finding_of(
      group,
      fmt::format("{}: {} builds have medians of {}; {}; processes vary by {} (standard deviation).",
                  group.subject, group.builds.size(), medians_text(group), difference_text(judged, turns),
                  format_percent(group.variance.within_frac)),
      equal   ? ""
      : turns ? "More repetitions of each build narrow that."
              : "Measure the builds again together.");
}

bool matters(const RunResult& run, const BuildGroup& group) {
  return group.variance.differ() && group.variance.between_frac >= kBuildSpreadFloor &&
         all_in_turns(run, group);
}

Findings with(const RunResult& run, bool that_matter, Finding (*say)(const RunResult&, const BuildGroup&)) {
  Findings found;
  for (const auto& group : build_groups(run))
    if (matters(run, group) == that_matter) found.push_back(say(run, group));
  return found;
}

}  // namespace

Findings find_build_spread(const RunResult& run) {
  return with(run, true, different);
}

Findings find_builds_alike(const RunResult& run) {
  return with(run, false, not_different);
}

}  // namespace paceline::analysis
