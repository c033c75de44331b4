// SPDX-License-Identifier: MIT
#include "workload/training/live_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/units.h"
#include "result/training_limits.h"
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

// Every part of a step that is worth a word while training runs.
struct ShownPart {
  const char* name;
  std::int64_t StepRow::*ns;
};
constexpr std::array<ShownPart, 5> kShownParts{{{"data", &StepRow::data_wait_ns},
                                                {"fwd", &StepRow::forward_ns},
                                                {"bwd", &StepRow::backward_ns},
                                                {"exposed comm", &StepRow::exposed_ns},
                                                {"opt", &StepRow::optimizer_ns}}};

}  // namespace

std::string sync_warning(const Training& t, std::int64_t steps) {
  if (steps < kFewestForTail || !is_uneven(t)) return {};
  return fmt::format("gradient synchronisation varies by {:.0f} % (p95/p50 over {} steps)",
                     (*t.sync_variation - 1) * 100, steps);
}

std::string late_warning(const Training& t) {
  return has_late_rank(t) ? late_words(t.late.front()) : std::string();
}

std::string slowest_words(const Training& t) {
  if (t.ranks.size() < 2) return {};
  std::vector<double> compute;
  for (const auto& rank : t.ranks) {
    if (!rank.compute_ns) return {};
    compute.push_back(*rank.compute_ns);
  }
  const auto most = std::ranges::max_element(compute);
  const double beyond = *most / stats::median(compute) - 1;
  return fmt::format("slowest: rank {} (+{})", t.ranks[static_cast<std::size_t>(most - compute.begin())].rank,
                     format_percent(beyond));
}

std::string live_figures(std::span<const StepRow> rows, std::int64_t samples_per_step,
                         const std::string& slowest) {
  if (rows.empty()) return {};
  const auto sum = [&](std::int64_t StepRow::*ns) {
    double total = 0;
    for (const auto& row : rows) total += static_cast<double>(row.*ns);
    return total;
  };
  const double steps_ns = sum(&StepRow::step_ns);
  if (steps_ns <= 0) return {};
  std::string text = fmt::format(
      "{} samples/s",
      format_rate(static_cast<double>(samples_per_step) * static_cast<double>(rows.size()) / steps_ns * 1e9));
  if (const auto& loss = rows.back().loss) text += fmt::format("  loss {:.3g}", *loss);
  if (!slowest.empty()) text += "  " + slowest;
  for (const auto& part : kShownParts)
    text += fmt::format("  {} {}", part.name, format_percent(sum(part.ns) / steps_ns));
  return text;
}

}  // namespace paceline::workload
