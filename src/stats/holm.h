// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <vector>

// Adjusts p values of several tests, so that one false claim among all of them stays as rare as asked for.
namespace paceline::stats {

// Holm's step-down adjustment: element i belongs to p[i] and is at most 1. A claim holds at level alpha where
// the adjusted value is at most alpha.
std::vector<double> holm(std::span<const double> p);

// Fewest pairs whose sign test can reach alpha among `tests` tests: 6 for one at 0.05, 9 for ten.
std::int64_t pairs_for_tests(std::int64_t tests, double alpha);

}  // namespace paceline::stats
