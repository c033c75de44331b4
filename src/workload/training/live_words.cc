// SPDX-License-Identifier: MIT
#include "workload/training/live_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "result/figures/training_limits.h"
#include "stats/quantile.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kFewestForTail = 20;  // below it one step is the p95

using result::StepRow;
using result::Training;

bool is_uneven(const Training& t) {
  return t.sync_variation && *t.sync_variation >= result::kUnevenSync && t.exposed_share &&
         *t.exposed_share >= result::kWorthSync;
}

bool has_late_rank(const Training& t) {
  return result::has_straggler(t) && !t.late.empty() && t.straggler_wait_share &&
         *t.straggler_wait_share >= result::kMuchWaiting;
}

std::string late_words(const result::LateRank& late) {
  std::string text = fmt::format("the others wait for rank {}", late.rank);
  if (!late.late_in.empty()) text += fmt::format(", which is late in its {} part", late.late_in);
  text += fmt::format(": {} per step", format_duration_ns(*late.cost_ns));
  return late.causes.empty() ? text : fmt::format("{} ({})", text, late.causes.front().evidence);
}

}  // namespace

std::string sync_warning(const Training& t, std::int64_t steps) {
  if (steps < kFewestForTail || !is_uneven(t)) return {};
  return fmt::format("gradient synchronisation varies by {:.0f} % (p95/p50 over {} steps)",
                     (*t.sync_variation - 1) * 100, steps);
}

std::string late_warning(const Training& t) {
  return has_late_rank(t) ? late_words(t.late.front()) : std::string();
}

std::optional<pass::SlowestRank> slowest_rank(const Training& t) {
  if (t.ranks.size() < 2) return std::nullopt;
  std::vector<double> compute;
  for (const auto& rank : t.ranks) {
    if (!rank.compute_ns) return std::nullopt;
    compute.push_back(*rank.compute_ns);
  }
  const auto most = std::ranges::max_element(compute);
  const auto rank = t.ranks[static_cast<std::size_t>(most - compute.begin())].rank;
  const bool explained = has_late_rank(t) && t.late.front().rank == rank && !t.late.front().causes.empty();
  return pass::SlowestRank{rank, *most / stats::median(compute) - 1,
                           explained ? t.late.front().causes.front().evidence : ""};
}

std::optional<pass::LiveSteps> live_steps(std::span<const StepRow> rows, std::int64_t samples_per_step,
                                          std::optional<pass::SlowestRank> slowest) {
  double steps_ns = 0;
  for (const auto& row : rows) steps_ns += static_cast<double>(row.step_ns);
  if (steps_ns <= 0) return std::nullopt;
  result::StepShares shares;
  for (const auto part : result::kStepParts) {
    double part_ns = 0;
    for (const auto& row : rows) part_ns += static_cast<double>(row.ns[part]);
    shares[part] = part_ns / steps_ns;
  }
  return pass::LiveSteps{
      static_cast<double>(samples_per_step) * static_cast<double>(rows.size()) / steps_ns * 1e9,
      {rows.back().loss, "the loss is not finite"},
      slowest,
      shares};
}

}  // namespace paceline::workload
