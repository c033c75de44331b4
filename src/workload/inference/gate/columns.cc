// SPDX-License-Identifier: MIT
#include "workload/inference/gate/columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace paceline::workload {
namespace {

constexpr double kLikeSize = 10;
constexpr double kNextToNothing = 0x1p-24;  // of the largest column

// The place of each element's row along the first axis; rows may have been thinned out evenly.
std::vector<std::uint32_t> along_first_axis(const ComparedRows& rows, std::size_t width) {
  const std::int64_t axis = rows.sample_shape.front();
  std::vector<std::uint32_t> places(width);
  for (std::size_t i = 0; i < width; ++i) {
    const auto position = static_cast<std::int64_t>(i) / rows.length;
    const std::int64_t row = (position + 1) * rows.all_positions / rows.positions - 1;
    places[i] = static_cast<std::uint32_t>(row * axis / rows.all_positions);
  }
  return places;
}

std::vector<std::uint32_t> along_last_axis(const ComparedRows& rows, std::size_t width) {
  std::vector<std::uint32_t> places(width);
  for (std::size_t i = 0; i < width; ++i)
    places[i] = static_cast<std::uint32_t>(static_cast<std::int64_t>(i) % rows.length);
  return places;
}

void add_groups(std::vector<ColumnGroup>& groups, std::vector<std::size_t> columns,
                const std::vector<double>& squares) {
  std::ranges::sort(columns, [&](auto a, auto b) { return squares[a] > squares[b]; });
  const double least = kNextToNothing * std::sqrt(squares[columns.front()]);
  bool open = false;
  for (const std::size_t column : columns) {
    const double size = std::sqrt(squares[column]);
    const bool fits = open && (size * kLikeSize > groups.back().size || groups.back().size <= least);
    if (!fits) groups.push_back({{}, size});
    groups.back().columns.push_back(column);
    open = true;
  }
}

}  // namespace

Columns::Columns(const ComparedRows& rows)
    : width_(static_cast<std::size_t>(rows.positions * rows.length)),
      count_(static_cast<std::size_t>(rows.length)),
      bounds_{0, count_},
      of_{along_last_axis(rows, width_)} {
  const auto& shape = rows.sample_shape;
  if (shape.size() < 2 || rows.positions < 2 || shape.front() < 2) return;
  of_.push_back(along_first_axis(rows, width_));
  for (auto& column : of_.back()) column += static_cast<std::uint32_t>(count_);
  count_ += static_cast<std::size_t>(shape.front());
  bounds_.push_back(count_);
}

std::vector<double> Columns::means(std::int64_t samples,
                                   const std::function<double(std::size_t)>& value) const {
  std::vector<double> sums(count_, 0.0), counts(count_, 0.0);
  for (std::size_t s = 0; s < static_cast<std::size_t>(samples); ++s)
    for (std::size_t i = 0; i < width_; ++i) {
      const double v = value(s * width_ + i);
      for (const auto& axis : of_) sums[axis[i]] += v, counts[axis[i]] += 1;
    }
  for (std::size_t c = 0; c < count_; ++c) sums[c] /= std::max(1.0, counts[c]);
  return sums;
}

std::vector<ColumnGroup> groups_of(const Columns& columns, const std::vector<double>& squares) {
  std::vector<ColumnGroup> groups;
  const auto& bounds = columns.bounds();
  for (std::size_t axis = 0; axis + 1 < bounds.size(); ++axis) {
    std::vector<std::size_t> all(bounds[axis + 1] - bounds[axis]);
    std::iota(all.begin(), all.end(), bounds[axis]);
    if (!all.empty()) add_groups(groups, std::move(all), squares);
  }
  return groups;
}

}  // namespace paceline::workload
