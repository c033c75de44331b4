// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "workload/inference/gate/columns.h"
#include "workload/inference/gate/compared_rows.h"

// Errors of an output in units of what rounding does to the reference (docs/accuracy.md, "Unit of errors").
namespace paceline::workload {

// Root mean squares over the columns of a group.
struct GroupUnits {
  ColumnGroup group;
  double unit = 0;     // what little changes do, at least half a unit in the last place
  std::string change;  // which one that is: "one unit in the last place of the inputs"
  double error = 0;
  double layer = 0;               // one layer rounded to bfloat16
  double depends = 0;             // what differs between the inputs; of a single input all of it
  bool of_probabilities = false;  // the unit is what functions with values from 0 to 1 round away
  double worst_column = 0;  // largest error of a column, in its own unit or the group's, whichever is larger
  [[nodiscard]] double in_units() const { return error / unit; }
};

// Whether the yardstick of a reference has a unit at all.
bool has_unit(const ComparedRows& reference);
// Changes that a right engine makes to the reference: one of them (fp32), or all at once, whose squares add
// (a lower precision rounds inputs, weights and sums).
enum class Changes { kLargest, kTogether };
// With the longest sequences of sums among its orders. Few engines sum so, and in such a unit the check sees
// less: for errors that are beyond the other.
Yardstick with_sums_at_once(Yardstick yard);
// By group of columns. `outputs` has the shape of `reference`, and `yard`, which is the reference's, a unit.
std::vector<GroupUnits> units_of(const ComparedRows& outputs, const ComparedRows& reference,
                                 const Yardstick& yard, Changes changes);
// Takes all columns together; if `outputs` are the reference itself, the error is 0.
GroupUnits overall_units(const ComparedRows& outputs, const ComparedRows& reference, const Yardstick& yard,
                         Changes changes);

}  // namespace paceline::workload
