// SPDX-License-Identifier: MIT
#include "report/step_view.h"

#include <algorithm>
#include <numeric>

#include "stats/order_statistics.h"
#include "stats/quantile.h"

namespace paceline::report {
namespace {

using result::StepAccount;

double length_of(const StepAccount& step) {
  double longest = 0;
  for (const auto& rank : step.ranks) longest = std::max(longest, rank.sum());
  return longest;
}

OwnTimes own_times_of(const std::vector<StepAccount>& accounts, std::size_t index, std::int64_t rank) {
  std::vector<double> own;
  for (const auto& step : accounts) own.push_back(step.ranks[index].own_sum());
  std::ranges::sort(own);
  const auto at = [&](double share) {
    return own[static_cast<std::size_t>(share * static_cast<double>(own.size() - 1) + 0.5)];
  };
  return {rank, at(0.05), at(0.25), at(0.5), at(0.75), at(0.95)};
}

LatenessMap lateness_of(const std::vector<StepAccount>& accounts, const std::vector<std::int64_t>& ranks) {
  LatenessMap map{std::min(kMostMapRows, ranks.size()), std::min(kMostMapColumns, accounts.size())};
  map.late_ns.assign(map.rows * map.columns, 0);
  map.first_rank.resize(map.rows), map.first_step.resize(map.columns);
  for (std::size_t r = ranks.size(); r-- > 0;) map.first_rank[r * map.rows / ranks.size()] = ranks[r];
  for (std::size_t s = accounts.size(); s-- > 0;) {
    const std::size_t column = s * map.columns / accounts.size();
    map.first_step[column] = accounts[s].step;
    std::vector<double> own;
    for (const auto& rank : accounts[s].ranks) own.push_back(rank.own_sum());
    const double middle = stats::median(own);
    for (std::size_t r = 0; r < own.size(); ++r) {
      double& cell = map.late_ns[(r * map.rows / own.size()) * map.columns + column];
      cell = std::max(cell, own[r] - middle);
    }
  }
  map.last_rank = ranks.back(), map.last_step = accounts.back().step;
  return map;
}

}  // namespace

std::vector<std::size_t> largest_of(const std::vector<double>& values, std::size_t most) {
  std::vector<std::size_t> indices(values.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::ranges::stable_sort(indices, std::greater(), [&](std::size_t i) { return values[i]; });
  indices.resize(std::min(most, indices.size()));
  std::ranges::sort(indices);
  return indices;
}

StepView step_view(const std::vector<result::RankSteps>& tables) {
  if (tables.size() < 2) return {};
  const auto accounts = result::accounts_of(result::aligned(tables));
  if (accounts.size() < 3) return {};
  StepView view;
  for (const auto* table : result::by_rank(tables)) view.ranks.push_back(table->rank.rank);
  std::vector<std::size_t> order(accounts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return length_of(accounts[i]); });
  view.typical = accounts[order[order.size() / 2]], view.worst = accounts[order.back()];
  view.typical_ns = length_of(view.typical), view.worst_ns = length_of(view.worst);
  std::vector<OwnTimes> own;
  std::vector<double> medians;
  for (std::size_t r = 0; r < view.ranks.size(); ++r) {
    own.push_back(own_times_of(accounts, r, view.ranks[r]));
    medians.push_back(own.back().median);
  }
  for (const std::size_t r : largest_of(medians, kMostRanksDrawn)) view.own.push_back(own[r]);
  view.late = lateness_of(accounts, view.ranks);
  return view;
}

}  // namespace paceline::report
