// SPDX-License-Identifier: MIT
#include "stats/proportion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/order_statistics.h"

namespace paceline::stats {
namespace {

void expect_interval(const Interval& have, double low, double high, double within = 5e-5) {
  EXPECT_NEAR(have.low, low, within);
  EXPECT_NEAR(have.high, high, within);
}

TEST(BinomialInterval, PublishedValues) {
  // Newcombe 1998 (Statistics in Medicine 17, 857-872), table I, method 5 (Clopper-Pearson).
  expect_interval(binomial_interval(81, 263, 0.95), 0.2527, 0.3676);
  expect_interval(binomial_interval(15, 148, 0.95), 0.0578, 0.1617);
  expect_interval(binomial_interval(0, 20, 0.95), 0.0000, 0.1684);
  expect_interval(binomial_interval(1, 29, 0.95), 0.0009, 0.1776);
}

TEST(BinomialInterval, ClosedForms) {
  for (const double n : {1.0, 8.0, 64.0, 598.0, 10000.0}) {
    const Interval none = binomial_interval(0, n, 0.95), all = binomial_interval(n, n, 0.95);
    EXPECT_EQ(none.low, 0);
    EXPECT_NEAR(none.high, 1 - std::pow(0.025, 1 / n), 1e-12);
    EXPECT_NEAR(all.low, std::pow(0.025, 1 / n), 1e-12);
    EXPECT_EQ(all.high, 1);
  }
}

TEST(BinomialInterval, EachTailHoldsItsProbability) {
  // The defining equations, through the binomial distribution itself.
  for (const int k : {1, 3, 17, 63}) {
    const Interval i = binomial_interval(k, 64, 0.95);
    EXPECT_NEAR(binomial_cdf(64, i.high, k), 0.025, 1e-9);
    EXPECT_NEAR(1 - binomial_cdf(64, i.low, k - 1), 0.025, 1e-9);
  }
}

TEST(BinomialInterval, NeverCoversLessThanItSays) {
  for (const double p : {0.001, 0.01, 0.05, 0.3, 0.5}) {
    double covered = 0;
    for (int k = 0; k <= 200; ++k) {
      const Interval i = binomial_interval(k, 200, 0.95);
      const double mass = binomial_cdf(200, p, k) - (k > 0 ? binomial_cdf(200, p, k - 1) : 0);
      if (i.low <= p && p <= i.high) covered += mass;
    }
    EXPECT_GE(covered, 0.95) << p;
  }
}

TEST(BinomialInterval, SumsOfSharesLieBetweenWholeCounts) {
  const double upper = binomial_upper(0.4, 64, 0.05);
  EXPECT_GT(upper, binomial_upper(0, 64, 0.05));
  EXPECT_LT(upper, binomial_upper(1, 64, 0.05));
}

TEST(TrialsForUpper, RuleOfThree) {
  EXPECT_EQ(trials_for_upper(0, 0.005, 0.05), 598);  // ln 0.05 / ln 0.995 = 597.6
  EXPECT_EQ(trials_for_upper(0, 0.005, 0.025), 736);
  EXPECT_EQ(trials_for_upper(0, 0.01, 0.05), 299);
  EXPECT_LT(binomial_upper(0, 598, 0.05), 0.005);
  EXPECT_GE(binomial_upper(0, 597, 0.05), 0.005);
}

TEST(TrialsForUpper, AShareCostsMoreTrials) {
  const auto n = trials_for_upper(0.002, 0.005, 0.05);
  EXPECT_GT(n, 598);
  EXPECT_LT(binomial_upper(0.002 * static_cast<double>(n), static_cast<double>(n), 0.05), 0.005);
}

TEST(TrialsForUpper, AShareAtTheLimitNeverCarriesTheClaim) {
  EXPECT_EQ(trials_for_upper(0.005, 0.005, 0.05), 0);
  EXPECT_EQ(trials_for_upper(0.0049999, 0.005, 0.05), 0);  // more than 10^7
}

// 797 inputs of which 5 were lost and 4 gained: far more are needed than for a loss of 1 in 797 alone.
TEST(TrialsForLoss, WhatIsGainedBesidesCostsTrialsToo) {
  const PairedCounts seen{5, 4, 797};
  ASSERT_GT(loss_upper(seen, 0.05), 0.005);
  const auto n = trials_for_loss(seen, 0.005, 0.05);
  EXPECT_GT(n, 797);
  const auto scale = static_cast<double>(n) / 797;
  EXPECT_LT(loss_upper({5 * scale, 4 * scale, 797 * scale}, 0.05), 0.005);
  EXPECT_EQ(trials_for_loss({0, 0, 797}, 0.005, 0.05), 598) << "the exact binomial decides";
  EXPECT_EQ(trials_for_loss({4, 0, 797}, 0.005, 0.05), 0) << "more was lost than the limit";
}

// A number that a run already had must never be asked for after it could not claim.
TEST(TrialsForLoss, NeverAsksForWhatWasNotEnough) {
  for (double lost = 0; lost < 8; ++lost)
    for (double gained = 0; gained < 8; ++gained) {
      const PairedCounts seen{lost, gained, 797};
      if (loss_upper(seen, 0.05) < 0.005) continue;
      const auto n = trials_for_loss(seen, 0.005, 0.05);
      EXPECT_TRUE(n == 0 || n > 797) << lost << " lost, " << gained << " gained: " << n;
    }
}

TEST(PairedChange, PublishedValues) {
  // Airway reactivity of 21 children before and after: 1 and 7 discordant. Fagerland, Lydersen and Laake 2014
  // (Statistics in Medicine 33, 2850-2875), Tango's asymptotic score interval: -0.517 to -0.026.
  expect_interval(paired_change_interval({7, 1, 21}, 0.95), -0.517, -0.026, 5e-4);
}

// Fagerland, Lydersen and Laake 2013 (BMC Medical Research Methodology 13:91), exact conditional test: airway
// reactivity of 21 children (1 and 7 discordant) and complete response of 161 patients (6 and 16).
TEST(McNemar, PublishedValues) {
  EXPECT_NEAR(mcnemar_exact_p({7, 1, 21}), 0.0703, 5e-5);
  EXPECT_NEAR(mcnemar_exact_p({1, 7, 21}), 0.0703, 5e-5);
  EXPECT_NEAR(mcnemar_exact_p({6, 16, 161}), 0.0525, 5e-5);
}

TEST(McNemar, EqualNumbersTellNothingApart) {
  EXPECT_EQ(mcnemar_exact_p({0, 0, 100}), 1);
  EXPECT_EQ(mcnemar_exact_p({5, 5, 100}), 1);
  EXPECT_NEAR(mcnemar_exact_p({6, 0, 100}), 2 * std::pow(0.5, 6), 1e-15);
}

TEST(PairedChange, NothingDiffers) {
  const double z2 = 1.959963984540054 * 1.959963984540054;
  for (const double n : {10.0, 64.0, 600.0})
    expect_interval(paired_change_interval({0, 0, n}, 0.95), -z2 / (n + z2), z2 / (n + z2), 1e-9);
}

TEST(PairedChange, MirrorsWhenTheJudgementsAreSwapped) {
  const Interval one = paired_change_interval({12, 3, 200}, 0.95),
                 other = paired_change_interval({3, 12, 200}, 0.95);
  expect_interval(other, -one.high, -one.low, 1e-12);
}

TEST(PairedChange, ZeroIsExcludedExactlyWhenMcNemarRejects) {
  // At a difference of zero the score is McNemar's (gained - lost) / sqrt(gained + lost).
  for (double lost = 0; lost <= 20; ++lost)
    for (double gained = 0; gained <= 20; ++gained) {
      if (lost + gained == 0) continue;
      const bool rejects = std::abs(gained - lost) / std::sqrt(gained + lost) > 1.959963984540054;
      const Interval i = paired_change_interval({lost, gained, 300}, 0.95);
      EXPECT_EQ(i.low > 0 || i.high < 0, rejects) << lost << " " << gained;
    }
}

TEST(PairedChange, EverythingDiffers) {
  const double z2 = 1.959963984540054 * 1.959963984540054;
  expect_interval(paired_change_interval({10, 0, 10}, 0.95), -1, -(10 - z2) / (10 + z2), 1e-9);
  EXPECT_EQ(paired_change_interval({0, 5, 5}, 0.95).high, 1);
}

// P(a loss of exactly `limit` is claimed to be smaller), exactly, over the share of gains.
double false_claims(int n, double limit, double gained_share) {
  const double lost_share = gained_share + limit;
  double total = 0;
  double log_lost = n * std::log1p(-lost_share);  // pmf of the losses, by recurrence
  for (int lost = 0; lost <= n && lost < 12 + n * lost_share * 4; ++lost) {
    const double rest = gained_share / (1 - lost_share);
    double log_gained = rest > 0 ? (n - lost) * std::log1p(-rest) : 0;
    for (int gained = 0; gained <= n - lost && gained < 12 + n * gained_share * 4; ++gained) {
      if (-paired_change_lower({double(lost), double(gained), double(n)}, 0.05) < limit)
        total += std::exp(log_lost + log_gained);
      if (rest == 0) break;
      log_gained += std::log(double(n - lost - gained) / (gained + 1)) + std::log(rest / (1 - rest));
    }
    log_lost += std::log(double(n - lost) / (lost + 1)) + std::log(lost_share / (1 - lost_share));
  }
  return total;
}

TEST(PairedChange, OneSidedClaimsAreWrongAboutAsOftenAsTheySay) {
  // From the exact binomial's number of trials on; below it, as at 539, nothing discordant is claimed too
  // early.
  for (const double gained_share : {0.0, 0.002, 0.01})
    EXPECT_LE(false_claims(598, 0.005, gained_share), 0.052);
  EXPECT_GT(false_claims(539, 0.005, 0), 0.06);
}

}  // namespace
}  // namespace paceline::stats
