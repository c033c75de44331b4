// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

// Bounds the probability that marks gather by chance in one row of a table whose columns are a series in
// time. A marked column has one mark; each column and each row is as likely as another.
namespace paceline::stats {

struct MarkedTable {
  std::size_t rows = 2, columns = 0, marks = 0;
};

// Probability that some row has such a set with at most `misses` exceptions: columns of the set without a
// mark in this row, and marks elsewhere. A union bound over rows and sets; within a set the expected number
// of groups of marks bounds the probability (Markov), which is exact without exceptions. At most 1.
double chance_of_window(const MarkedTable& table, std::size_t misses);  // adjacent columns
// Each k-th column, for k from 2 to `longest`.
double chance_of_period(const MarkedTable& table, std::size_t misses, std::size_t longest);

}  // namespace paceline::stats
