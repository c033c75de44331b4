// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "analysis/ratio_verdict.h"
#include "base/units.h"
#include "result/stored/benchmark_params.h"

// Findings about layouts of instances x threads on the same machine (methodology: instances).
namespace paceline::analysis {
namespace {

using result::Estimate;

struct Layout {
  std::int64_t instances = 1, threads = 1;
  [[nodiscard]] std::string words() const { return fmt::format("{}×{}", instances, threads); }
};

Layout layout_of(const CaseResult& one) {
  return {one.benchmark.instances.value_or(1), one.benchmark.threads};
}

std::string words_without_layout(const CaseResult& one) {
  auto b = result::without_threads_per_instance(one.benchmark);
  b.instances.reset(), b.threads = 0;
  return describe_without(b, "threads");
}

// Measured cases with instances that only differ in the layout.
std::vector<Cases> layout_groups(const RunResult& run) {
  std::map<std::string, Cases> groups;
  for (const CaseResult& one : run.cases)
    if (is_ok(one) && one.benchmark.instances && rate_of(one).value)
      groups[words_without_layout(one)].push_back(&one);
  std::vector<Cases> found;
  for (auto& [subject, group] : groups)
    if (group.size() > 1) found.push_back(std::move(group));
  return found;
}

// "Best" requires that the ratios to all others are claimed; otherwise it is merely the highest figure.
bool certain(const RunResult& run, const CaseResult& best, const Cases& group) {
  return std::all_of(group.begin(), group.end(), [&](const CaseResult* other) {
    return other == &best || judge_ratio(run, Figure::kRate, best, *other).claim == Claim::kMore;
  });
}

std::string efficiency_of(const RunResult& run, const CaseResult& one, const CaseResult& base) {
  const Estimate mine = rate_of(one), theirs = rate_of(base);
  const auto judged = judge_ratio(run, Figure::kRate, one, base);
  const double ratio = judged.ratio ? judged.ratio->value : *mine.value / *theirs.value;
  const auto instances = static_cast<double>(layout_of(one).instances);
  return fmt::format("; {} does {}x the work of {}{}, an efficiency of {} %{}", layout_of(one).words(),
                     format_fixed(ratio, 2), layout_of(base).words(),
                     judged.ratio ? fmt::format(" ({})", range_of(*judged.ratio)) : "",
                     format_fixed(ratio / instances * 100, 0),
                     judged.doubt().empty() ? "" : fmt::format(" (no claim: {})", judged.doubt()));
}

// About layouts with as many threads per instance as the one-instance layout.
std::string efficiency_words(const RunResult& run, const Cases& group) {
  std::string words;
  for (const CaseResult* base : group)
    for (const CaseResult* one : group) {
      const Layout small = layout_of(*base), large = layout_of(*one);
      if (small.instances == 1 && large.instances > 1 && small.threads == large.threads)
        words += efficiency_of(run, *one, *base);
    }
  return words;
}

Finding layout_finding(const RunResult& run, const Cases& group) {
  const CaseResult& best = **std::max_element(group.begin(), group.end(), [](const auto* a, const auto* b) {
    return *rate_of(*a).value < *rate_of(*b).value;
  });
  std::string others;
  Cases cases{&best};
  for (const CaseResult* one : group) {
    if (one == &best) continue;
    cases.push_back(one);
    others += fmt::format("{}{}: {}, {}", others.empty() ? "" : "; ", layout_of(*one).words(),
                          rate_words(*one), p50_words(*one));
  }
  return finding_about(
      cases,
      fmt::format("{}: of the layouts (instances × threads), {} has the highest throughput{}: {}, {}. {}{}.",
                  words_without_layout(best), layout_of(best).words(),
                  certain(run, best, group) ? ""
                                            : " measured here (no claim: too few pairs of processes, or "
                                              "ratios within the margin)",
                  rate_words(best), p50_words(best), others, efficiency_words(run, group)),
      fmt::format("{} layouts on separate cores", group.size()));
}

}  // namespace

Findings find_layouts(const RunResult& run) {
  Findings found;
  for (const Cases& group : layout_groups(run)) found.push_back(layout_finding(run, group));
  return found;
}

}  // namespace paceline::analysis
