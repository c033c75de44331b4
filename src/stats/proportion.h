// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "stats/interval.h"

// Estimates shares of independent trials, and how a share changes between two judgements of the same trials.
namespace paceline::stats {

// Clopper-Pearson: at most tail(confidence) of the binomial probability lies beyond each end, so the coverage
// is never below `confidence`. 0 of n ends at 1 - tail^(1/n). `successes` need not be whole: where a trial is
// itself a share (positions of a sequence that agree), it is the sum of shares, which counts the positions of
// one trial as a single observation (Korn and Graubard 1998 with the largest design effect). 0 <= successes
// <= trials, trials > 0.
Interval binomial_interval(double successes, double trials, double confidence);

// One-sided bounds of the share at level 1 - alpha: P(share above upper) <= alpha, P(share below lower) <=
// alpha.
double binomial_upper(double successes, double trials, double alpha);
double binomial_lower(double successes, double trials, double alpha);

// The fewest trials for which `share` of them keeps the one-sided upper bound below `limit`: 598 for a share
// of 0 and 0.005 at alpha 0.05 (two-sided 95 %: 736). 0 when share >= limit or when 10^7 trials are not
// enough.
std::int64_t trials_for_upper(double share, double limit, double alpha);

// Correct answers in two judgements of the same n trials; only the discordant ones matter.
struct PairedCounts {
  double lost = 0;    // the first was right, the second wrong
  double gained = 0;  // the other way round
  double trials = 0;
};

// Two-sided p of as unequal numbers of lost and gained if both are equally likely: McNemar's test
// (Psychometrika 12, 1947, 153-157) in its exact form, the binomial of the discordant trials. 1 when nothing
// differs.
double mcnemar_exact_p(const PairedCounts& counts);

// (gained - lost) / trials with Tango's score interval for a difference of paired proportions (Statistics in
// Medicine 17, 1998, 891-908). It does not collapse when nothing differs: +-z^2 / (n + z^2) there.
Interval paired_change_interval(const PairedCounts& counts, double confidence);
double paired_change_lower(const PairedCounts& counts, double alpha);
double paired_change_upper(const PairedCounts& counts, double alpha);

// One-sided upper bound of the loss, (lost - gained) / trials. Never below what the exact binomial allows
// where nothing is lost: the score interval of few trials promises too much.
double loss_upper(const PairedCounts& counts, double alpha);
// The fewest trials for which these shares of lost and gained keep that bound below `limit`; 0 as above.
std::int64_t trials_for_loss(const PairedCounts& counts, double limit, double alpha);

}  // namespace paceline::stats
