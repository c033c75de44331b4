// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "workload/inference/gate/compared_rows.h"

// Columns of an output, so that errors of small values are not lost beside large ones: pixels and scores lie
// side by side in a detector's output.
namespace paceline::workload {

// Column by element of a sample. The last axis comes first; where a sample has several axes, those of its
// first one (the classes of a map) are numbered after them.
class Columns {
 public:
  explicit Columns(const ComparedRows& rows);
  [[nodiscard]] std::size_t size() const { return count_; }
  // Mean of value(i) over the elements of each column, for the elements of `samples` whole samples.
  [[nodiscard]] std::vector<double> means(std::int64_t samples,
                                          const std::function<double(std::size_t)>& value) const;
  // Where the columns of each axis begin, and the end.
  [[nodiscard]] const std::vector<std::size_t>& bounds() const { return bounds_; }

 private:
  std::size_t width_, count_;
  std::vector<std::size_t> bounds_;
  std::vector<std::vector<std::uint32_t>> of_;  // by axis, then by element of a sample
};

// Columns of one axis whose values are of like size, the largest first in a list of groups.
struct ColumnGroup {
  std::vector<std::size_t> columns;
  double size = 0;  // root mean square of the values in its largest column
};
// `squares`: mean square of the reference by column. Within a group sizes differ by a factor of less than 10.
// What is below a unit in the last place of the largest column is one group.
std::vector<ColumnGroup> groups_of(const Columns& columns, const std::vector<double>& squares);

}  // namespace paceline::workload
