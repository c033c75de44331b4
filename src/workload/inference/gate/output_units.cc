// SPDX-License-Identifier: MIT
#include "workload/inference/gate/output_units.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "workload/inference/gate/output_errors.h"

namespace paceline::workload {
namespace {

using Series = std::vector<double>;

// Share of the largest column that engines leave in a column of nothing but their rounding.
constexpr double kLeast = 0x1p-48;
// Half a unit in the last place of values up to 1: sigmoid and softmax round like that, however small a
// probability is.
constexpr double kOfProbabilities = 0x1p-25;

struct SmallChange {
  Series Yardstick::*squares;
  std::string_view words;
};
constexpr std::array kChanges{SmallChange{&Yardstick::inputs, "one unit in the last place of the inputs"},
                              SmallChange{&Yardstick::weights, "one unit in the last place of the weights"},
                              SmallChange{&Yardstick::order, "another order of its sums"}};
constexpr std::string_view kTogether = "a unit in inputs, weights and sums together";

double half_unit(float value) {
  const float magnitude = std::abs(value);
  return 0.5 * (static_cast<double>(std::nextafter(magnitude, HUGE_VALF)) - static_cast<double>(magnitude));
}

// Mean squares of everything that is looked at, by column.
struct ByColumn {
  Columns columns;
  Series size, error, half_units, depends, probabilities;
};

// Squares; 0 for columns with values outside 0 to 1, and for all where none of them comes near 1.
Series rounding_of_probabilities(const Series& outside, const Series& near_one) {
  bool any = false;
  Series squares(outside.size(), 0.0);
  for (std::size_t c = 0; c < outside.size(); ++c) {
    if (outside[c] > 0) continue;
    squares[c] = kOfProbabilities * kOfProbabilities;
    any = any || near_one[c] > 0;
  }
  return any ? squares : Series(outside.size(), 0.0);
}

ByColumn by_column(const ComparedRows& outputs, const ComparedRows& reference) {
  ByColumn by{Columns(reference), {}, {}, {}, {}, {}};
  const auto mean = mean_sample(reference);
  const auto squared = [](double v) { return v * v; };
  const auto value = [&](std::size_t i) { return static_cast<double>(reference.values[i]); };
  const auto means = [&](auto&& of) { return by.columns.means(reference.samples, of); };
  by.size = means([&](std::size_t i) { return squared(value(i)); });
  by.error =
      means([&](std::size_t i) { return squared(difference(outputs.values[i], reference.values[i])); });
  by.half_units = means([&](std::size_t i) { return squared(half_unit(reference.values[i])); });
  by.depends = means([&](std::size_t i) { return squared(value(i) - mean[i % mean.size()]); });
  by.probabilities = rounding_of_probabilities(
      means([&](std::size_t i) { return value(i) >= 0 && value(i) <= 1 ? 0.0 : 1.0; }),
      means([&](std::size_t i) { return value(i) >= 0.5 ? 1.0 : 0.0; }));
  return by;
}

double rms(const Series& squares, const std::vector<std::size_t>& columns) {
  if (squares.empty()) return 0;
  double sum = 0;
  for (const std::size_t c : columns) sum += squares[c];
  return std::sqrt(sum / static_cast<double>(columns.size()));
}

using Unit = std::pair<double, std::string_view>;  // what it is, and from what

Unit largest_change(const Yardstick& yard, const std::vector<std::size_t>& columns) {
  Unit largest;
  for (const auto& change : kChanges)
    if (const double found = rms(yard.*change.squares, columns); found > largest.first)
      largest = {found, change.words};
  return largest;
}

Unit changes_together(const Yardstick& yard, const std::vector<std::size_t>& columns) {
  Unit sum = largest_change(yard, columns);
  double squares = 0;
  for (const auto& change : kChanges) squares += std::pow(rms(yard.*change.squares, columns), 2);
  if (std::sqrt(squares) > sum.first) sum = {std::sqrt(squares), kTogether};
  return sum;
}

Unit unit_of(const Yardstick& yard, const ByColumn& by, double least, Changes changes,
             const std::vector<std::size_t>& columns) {
  Unit unit{std::max({rms(by.half_units, columns), least, double{FLT_MIN}}), kChanges.front().words};
  const auto larger = [&](const Unit& other) {
    if (other.first > unit.first) unit = other;
  };
  larger({rms(by.probabilities, columns), "rounding in a function with values from 0 to 1"});
  larger(changes == Changes::kTogether ? changes_together(yard, columns) : largest_change(yard, columns));
  return unit;
}

double least_unit(const ByColumn& by) {
  return kLeast * std::sqrt(*std::ranges::max_element(by.size));
}

GroupUnits group_units(const Yardstick& yard, const ByColumn& by, Changes changes, ColumnGroup group) {
  GroupUnits found;
  const double least = least_unit(by);
  std::tie(found.unit, found.change) = unit_of(yard, by, least, changes, group.columns);
  found.error = rms(by.error, group.columns);
  found.layer = rms(yard.layer, group.columns);
  found.depends = rms(by.depends, group.columns);
  found.of_probabilities = found.unit == rms(by.probabilities, group.columns);
  for (const std::size_t column : group.columns) {
    const double own = unit_of(yard, by, least, changes, {column}).first;
    found.worst_column =
        std::max(found.worst_column, std::sqrt(by.error[column]) / std::max(own, found.unit));
  }
  found.group = std::move(group);
  return found;
}

}  // namespace

bool has_unit(const ComparedRows& reference) {
  return reference.yardstick && reference.yardstick->flips.empty() &&
         std::ranges::any_of(
             kChanges, [&](const auto& change) { return !(*reference.yardstick.*change.squares).empty(); });
}

Yardstick with_sums_at_once(Yardstick yard) {
  for (std::size_t c = 0; c < std::min(yard.order.size(), yard.at_once.size()); ++c)
    yard.order[c] = std::max(yard.order[c], yard.at_once[c]);
  if (yard.order.empty()) yard.order = yard.at_once;
  return yard;
}

std::vector<GroupUnits> units_of(const ComparedRows& outputs, const ComparedRows& reference,
                                 const Yardstick& yard, Changes changes) {
  const auto by = by_column(outputs, reference);
  std::vector<GroupUnits> all;
  for (auto& group : groups_of(by.columns, by.size))
    all.push_back(group_units(yard, by, changes, std::move(group)));
  return all;
}

GroupUnits overall_units(const ComparedRows& outputs, const ComparedRows& reference, const Yardstick& yard,
                         Changes changes) {
  const auto by = by_column(outputs, reference);
  ColumnGroup all{std::vector<std::size_t>(by.columns.bounds().at(1)), 0};
  std::iota(all.columns.begin(), all.columns.end(), std::size_t{0});
  all.size = rms(by.size, all.columns);
  return group_units(yard, by, changes, std::move(all));
}

}  // namespace paceline::workload
