// SPDX-License-Identifier: MIT
#include "stats/process_level.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "series.h"

namespace paceline::stats {
namespace {

TEST(ProcessLevel, SixProcessesGiveTheExactInterval) {
  const auto e = over_processes(std::vector<double>{12, 10, 11, 15, 13, 14});
  EXPECT_EQ(e.processes, 6);
  EXPECT_EQ(e.value, 12.5);
  EXPECT_EQ(*e.ci, (Interval{10, 15}));
  EXPECT_EQ(e.ci_method, "binomial_processes");
  EXPECT_NEAR(*e.actual_coverage, 31.0 / 32, 1e-12);
  EXPECT_TRUE(e.reason.empty());
}

TEST(ProcessLevel, TenProcessesDropTheExtremes) {
  const auto e = over_processes(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_EQ(*e.ci, (Interval{2, 9}));
}

TEST(ProcessLevel, FewProcessesUseStudentOnLogs) {
  const auto e = over_processes(std::vector<double>{10, 20});
  EXPECT_EQ(e.ci_method, "t_log_processes");
  EXPECT_EQ(e.value, 15);
  const double half = 12.7062047 * std::log(2.0) / 2;
  EXPECT_NEAR(std::log(e.ci->high / e.ci->low), 2 * half, 1e-4);
  EXPECT_NEAR(std::sqrt(e.ci->high * e.ci->low), std::sqrt(200.0), 1e-9);
  EXPECT_FALSE(e.actual_coverage);
}

TEST(ProcessLevel, HigherConfidenceNeedsMoreProcesses) {
  const std::vector<double> six{12, 10, 11, 15, 13, 14};
  EXPECT_EQ(over_processes(six, .99).ci_method, "t_log_processes");
}

TEST(ProcessLevel, OneProcessHasNoInterval) {
  const auto e = over_processes(std::vector<double>{10});
  EXPECT_EQ(e.value, 10);
  EXPECT_FALSE(e.ci);
  EXPECT_EQ(e.ci_method, "");
  EXPECT_EQ(e.reason, "one process");
  EXPECT_FALSE(over_processes(std::vector<double>{1, 0}).ci);
  EXPECT_THROW((void)over_processes({}), Error);
}

TEST(ProcessLevel, CoverageOverProcesses) {
  for (const int processes : {3, 6, 10}) {
    const double seen = series::rate(2000, [&](std::uint64_t seed) {
      auto x = series::normal(static_cast<std::size_t>(processes), seed, 0, .05);
      for (double& v : x) v = std::exp(v);
      const auto e = over_processes(x);
      return e.ci->low <= 1 && 1 <= e.ci->high;
    });
    const double stated = processes == 3 ? .95 : processes == 6 ? 31.0 / 32 : .9785;
    EXPECT_NEAR(seen, stated, series::tolerance(stated, 2000)) << processes;
  }
}

TEST(ProcessSpread, TellsWithinFromBetween) {
  std::vector<std::vector<double>> processes;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const double level = 100 * (1 + .05 * CounterRng(9, 9).normal(seed));
    processes.push_back(series::normal(400, seed, level, level * .01));
  }
  const auto spread = process_spread(processes);
  EXPECT_NEAR(*spread.within_frac, .01, .001);
  EXPECT_NEAR(*spread.between_frac, .05, .02);
  EXPECT_EQ(process_medians(processes).size(), 40U);
}

TEST(ProcessSpread, MissingWhereThereIsNoSpread) {
  const std::vector<std::vector<double>> one{{1, 2, 3}};
  EXPECT_FALSE(process_spread(one).between_frac);
  const std::vector<std::vector<double>> singles{{1}, {2}};
  EXPECT_FALSE(process_spread(singles).within_frac);
  EXPECT_TRUE(process_spread(singles).between_frac);
}

}  // namespace
}  // namespace paceline::stats
