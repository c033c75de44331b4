// SPDX-License-Identifier: MIT
#include "result/stored/operator_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/csv_cell.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

double self_of(const OperatorRow& row) {
  return row.self_ns.value().value_or(-1);  // rows without one come last
}

void fill_shares(std::vector<OperatorRow>& rows, double total_ns) {
  for (auto& row : rows)
    row.share = row.self_ns ? Number(*row.self_ns / total_ns) : Number::missing(row.self_ns.reason());
}

// Chooses the rows with the largest self time; the others are added up in `rest`.
void choose_top(OperatorProfile& profile, std::vector<OperatorRow> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const OperatorRow& a, const OperatorRow& b) { return self_of(a) > self_of(b); });
  double self_ns = 0;
  for (std::size_t i = kTopOperators; i < rows.size(); ++i) {
    profile.rest.calls += rows[i].calls;
    self_ns += rows[i].self_ns.value().value_or(0);
  }
  rows.resize(std::min(rows.size(), kTopOperators));
  profile.top = std::move(rows);
  profile.rest.self_ns = self_ns;
  profile.rest.share = self_ns / *profile.total_ns;
}

}  // namespace

OperatorProfile summarize_operators(ProfiledSteps& steps, const Number& p50_ns) {
  OperatorProfile profile;
  profile.source = steps.source;
  profile.on_device = steps.on_device;
  profile.reason = steps.no_trace;
  const double total_ns = std::accumulate(steps.step_ns.begin(), steps.step_ns.end(), 0.0);
  if (total_ns <= 0) {
    profile.reason = "no step was profiled";
    return profile;
  }
  fill_shares(steps.parts, total_ns);
  fill_shares(steps.operators, total_ns);
  profile.steps = static_cast<std::int64_t>(steps.step_ns.size());
  profile.untimed_steps = steps.untimed_steps;
  profile.step_ns = stats::median(steps.step_ns);
  profile.of_timed = p50_ns ? Number(*profile.step_ns / *p50_ns) : Number::missing(p50_ns.reason());
  profile.total_ns = total_ns;
  profile.parts = steps.parts;
  profile.operators = static_cast<std::int64_t>(steps.operators.size());
  profile.outside_ns = steps.outside_ns;
  profile.outside_share = steps.outside_ns / total_ns;
  choose_top(profile, steps.operators);
  return profile;
}

std::string operators_to_csv(const std::vector<OperatorRow>& rows) {
  std::string out = "index,name,calls,self_ns,total_ns,share\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& r = rows[i];
    out += fmt::format("{},{},{},{},{},{}\n", i, csv_cell(r.name), r.calls, csv_cell(r.self_ns),
                       csv_cell(r.total_ns), csv_cell(r.share));
  }
  return out;
}

}  // namespace paceline::result
