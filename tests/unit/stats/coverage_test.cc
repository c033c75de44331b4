// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "series.h"
#include "stats/batch_means.h"
#include "stats/quantile.h"

// Intervals hold the truth as often as they say: simulation with fixed seeds.
namespace paceline::stats {
namespace {

constexpr double kNormalP99 = 2.3263478740408408;

// A distribution by its quantile function of the normal score, so that every truth is known in closed form.
struct Distribution {
  const char* name;
  std::function<double(double z, double u)> draw;  // normal score, uniform
  double p50, p99;
};

std::vector<Distribution> distributions() {
  return {
      {"normal", [](double z, double) { return 100 + z; }, 100, 100 + kNormalP99},
      {"shifted lognormal", [](double z, double) { return 1 + std::exp(z / 2); }, 2,
       1 + std::exp(kNormalP99 / 2)},
      {"bimodal", [](double, double u) { return u < .8 ? 1 + u / 8 : 1.5 + (u - .8) / 2; }, 1.0625, 1.595},
      {"pareto tail", [](double, double u) { return std::pow(1 - u, -1 / 1.5); }, std::pow(.5, -1 / 1.5),
       std::pow(.01, -1 / 1.5)}};
}

std::vector<double> draw(const Distribution& d, std::size_t n, std::uint64_t seed) {
  const CounterRng random(seed, 77);
  const bool by_score = d.name[0] == 'n' || d.name[0] == 's';
  return series::make(n, [&](std::uint64_t i) {
    return by_score ? d.draw(random.normal(i), 0) : d.draw(0, random.uniform(i));
  });
}

bool plain_interval_holds(const std::vector<double>& x, double p, double truth) {
  const auto sorted = sorted_copy(x);
  const auto ranks = quantile_ranks(static_cast<std::int64_t>(x.size()), p, 0.025);
  return sorted[static_cast<std::size_t>(ranks.l - 1)] <= truth &&
         truth <= sorted[static_cast<std::size_t>(ranks.u - 1)];
}

bool holds(const QuantileEstimate& e, double truth) {
  return e.value && *e.ci_low <= truth && truth <= *e.ci_high;
}

struct Cell {
  std::size_t n;
  double p;
  double exact;
  int trials;
};

TEST(Coverage, EqualsTheExactValueForIndependentSamples) {
  const std::vector<Cell> cells{{10, .5, .979, 4000},   {30, .5, .957, 4000},   {100, .5, .965, 4000},
                                {1000, .5, .954, 1000}, {368, .99, .962, 1000}, {1000, .99, .976, 1000}};
  for (const auto& d : distributions())
    for (const auto& cell : cells) {
      const double truth = cell.p == .5 ? d.p50 : d.p99;
      const double seen = series::rate(cell.trials, [&](std::uint64_t seed) {
        return plain_interval_holds(draw(d, cell.n, seed), cell.p, truth);
      });
      EXPECT_NEAR(seen, cell.exact, series::tolerance(cell.exact, cell.trials)) << d.name << " n=" << cell.n;
    }
}

TEST(Coverage, CorrectedIntervalIsNotNarrowerForIndependentSamples) {
  for (const auto& d : distributions()) {
    const double seen = series::rate(1500, [&](std::uint64_t seed) {
      return holds(estimate_quantile(draw(d, 100, seed), kPpmP50), d.p50);
    });
    EXPECT_GE(seen, .965 - series::tolerance(.965, 1500)) << d.name;
  }
}

TEST(Coverage, QuantisedDataCoverAtLeastAsOften) {
  for (const double step : {.25, 1.0}) {
    const double seen = series::rate(2000, [&](std::uint64_t seed) {
      auto x = series::normal(100, seed, 100.1);
      for (double& v : x) v = std::round(v / step) * step;
      return plain_interval_holds(x, .5, std::round(100.1 / step) * step);
    });
    EXPECT_GE(seen, .965 - series::tolerance(.965, 2000));
  }
}

constexpr int kDependent = 1500;

double corrected_coverage(double phi, std::size_t n) {
  return series::rate(kDependent, [&](std::uint64_t seed) {
    return holds(estimate_quantile(series::ar1(n, seed, phi), kPpmP50), 0);
  });
}

TEST(Coverage, CorrectedIntervalSurvivesDependence) {
  for (const double phi : {0., .3, .6, .9})
    EXPECT_GE(corrected_coverage(phi, 1000), .94 - series::tolerance(.94, kDependent)) << phi;
}

TEST(Coverage, NaiveIntervalDoesNot) {
  for (const double phi : {.6, .9}) {
    const double seen = series::rate(kDependent, [&](std::uint64_t seed) {
      return plain_interval_holds(series::ar1(1000, seed, phi), .5, 0);
    });
    EXPECT_LT(seen, .80) << phi;
  }
}

TEST(Coverage, TailQuantileSurvivesDependence) {
  int claimed = 0;
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto e = estimate_quantile(series::ar1(5000, seed, .9), kPpmP99);
    claimed += e.value.has_value();
    held += holds(e, kNormalP99);
  }
  EXPECT_GT(claimed, 200);
  EXPECT_GE(held, .96 * claimed - 4 * std::sqrt(.96 * .04 * claimed));
}

TEST(Coverage, BatchMeansHoldTheMean) {
  for (const double phi : {0., .6}) {
    const double seen = series::rate(1500, [&](std::uint64_t seed) {
      const auto e = mean_interval(series::ar1(1000, seed, phi));
      return e.ci->low <= 0 && 0 <= e.ci->high;
    });
    EXPECT_NEAR(seen, .95, series::tolerance(.95, 1500)) << phi;
  }
}

}  // namespace
}  // namespace paceline::stats
