// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "answer/plot.h"

// Positions and labels of an axis's numbers.
namespace paceline::answer {

struct Tick {
  double at;
  std::string text;
};

// Round numbers between `low` and `high`, at most about `most` of them.
std::vector<double> linear_ticks(double low, double high, int most);    // 1, 2, 5 times a power of ten
std::vector<double> log_ticks(double low, double high, int most);       // as many per decade as fit
std::vector<double> doubling_ticks(double low, double high, int most);  // powers of two

// With the digits that tell neighbours apart.
std::vector<Tick> ticks_of(const Axis& axis, double low, double high, int most);

// "64 KiB"; up to three digits.
std::string binary_bytes(double bytes);

}  // namespace paceline::answer
