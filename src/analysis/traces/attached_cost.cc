// SPDX-License-Identifier: MIT
#include "analysis/traces/attached_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/units.h"
#include "stats/median.h"
#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::analysis::traces {
namespace {

constexpr std::size_t kBeside = 20;  // steps on either side of a block
constexpr std::size_t kFewestSteps = 5, kFewestPairs = 6;
constexpr double kConfidence = 0.95;

// Lengths of steps from `first` to before `last`.
std::vector<double> lengths_within(const std::vector<Round>& rounds, std::size_t first, std::size_t last) {
  std::vector<double> lengths;
  for (std::size_t i = first; i < last; ++i)
    lengths.push_back(static_cast<double>(rounds[i].span.end - rounds[i].span.begin));
  return lengths;
}

// Where steps that are watched, or are not, end that begin at `from`.
std::size_t end_of_run(const std::vector<Round>& rounds, std::size_t from) {
  std::size_t to = from;
  while (to < rounds.size() && rounds[to].watched == rounds[from].watched) ++to;
  return to;
}

}  // namespace

std::vector<double> watching_pairs(const std::vector<Round>& rounds) {
  std::vector<double> pairs;
  for (std::size_t from = 0, to = 0; from < rounds.size(); from = to) {
    to = end_of_run(rounds, from);
    if (rounds[from].watched || from < kBeside || to + kBeside > rounds.size()) continue;
    auto beside = lengths_within(rounds, from - kBeside, from);
    const auto behind = lengths_within(rounds, to, to + kBeside);
    beside.insert(beside.end(), behind.begin(), behind.end());
    const auto off = lengths_within(rounds, from, to);
    if (off.size() < kFewestSteps) continue;
    const double on_ns = stats::median(beside), off_ns = stats::median(off);
    if (on_ns > 0 && off_ns > 0) pairs.push_back(std::log(on_ns / off_ns));
  }
  return pairs;
}

void set_watching(const std::vector<double>& pairs, AttachedStudy& study) {
  if (pairs.size() < kFewestPairs) {
    const auto why = fmt::format("the observer was off in {} of steps, and it takes {} to tell its cost",
                                 plural(std::ssize(pairs), "block"), kFewestPairs);
    study.watching = study.watching_low = study.watching_high = Number::missing(why);
    return;
  }
  const double mean = stats::mean(pairs);
  const auto n = static_cast<double>(pairs.size());
  const double half = stats::student_t(n - 1, kConfidence) * stats::stddev(pairs).value_or(0) / std::sqrt(n);
  study.watching = std::exp(mean);
  study.watching_low = std::exp(mean - half), study.watching_high = std::exp(mean + half);
}

}  // namespace paceline::analysis::traces
