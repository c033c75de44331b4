// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"

// Seeded series with known properties.
namespace paceline::stats::series {

template <class Draw>
std::vector<double> make(std::size_t n, Draw draw) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = draw(static_cast<std::uint64_t>(i));
  return x;
}

inline std::vector<double> normal(std::size_t n, std::uint64_t seed, double mean = 0, double sd = 1) {
  const CounterRng random(seed, 1);
  return make(n, [&](std::uint64_t i) { return mean + sd * random.normal(i); });
}

inline std::vector<double> uniform(std::size_t n, std::uint64_t seed) {
  const CounterRng random(seed, 2);
  return make(n, [&](std::uint64_t i) { return random.uniform(i); });
}

inline std::vector<double> exponential(std::size_t n, std::uint64_t seed) {
  const CounterRng random(seed, 3);
  return make(n, [&](std::uint64_t i) { return -std::log1p(-random.uniform(i)); });
}

inline std::vector<double> lognormal(std::size_t n, std::uint64_t seed, double sigma) {
  const CounterRng random(seed, 4);
  return make(n, [&](std::uint64_t i) { return std::exp(sigma * random.normal(i)); });
}

inline std::vector<double> pareto(std::size_t n, std::uint64_t seed, double alpha) {
  const CounterRng random(seed, 5);
  return make(n, [&](std::uint64_t i) { return std::pow(1 - random.uniform(i), -1 / alpha); });
}

// Autoregressive with unit stationary variance, so that its quantiles are the normal's.
inline std::vector<double> ar1(std::size_t n, std::uint64_t seed, double phi) {
  const CounterRng random(seed, 6);
  const double scale = std::sqrt(1 - phi * phi);
  double state = random.normal(n);
  return make(n, [&](std::uint64_t i) { return state = phi * state + scale * random.normal(i); });
}

// Whether an observed rate fits a stated one: within four standard errors of `trials`.
inline double tolerance(double rate, int trials) {
  return 4 * std::sqrt(rate * (1 - rate) / trials);
}

template <class Event>
double rate(int trials, Event event) {
  int count = 0;
  for (int i = 0; i < trials; ++i) count += event(static_cast<std::uint64_t>(i) + 1) ? 1 : 0;
  return static_cast<double>(count) / trials;
}

}  // namespace paceline::stats::series
