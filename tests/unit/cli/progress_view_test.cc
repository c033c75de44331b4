// SPDX-License-Identifier: MIT
#include "cli/run/progress_view.h"

#include <gtest/gtest.h>

#include "cli/run/time_left.h"

namespace paceline::cli {
namespace {

pass::LiveSteps steps() {
  pass::LiveSteps s;
  s.samples_per_s = 128, s.loss = 2.345, s.slowest = pass::SlowestRank{1, 0.018};
  s.shares.values = {0.0, 0.3, 0.4, 0.5, 0.05, 0.05};
  return s;
}

pass::ProgressRecord measuring(std::int64_t n, double elapsed_s) {
  pass::ProgressRecord r;
  r.phase = "measure", r.n = n, r.elapsed_s = elapsed_s;
  return r;
}

TEST(TimeLeft, CountsDownWithinAPass) {
  run::PassInfo pass;
  pass.number = 3, pass.of = 4, pass.seconds_left = 60;
  EXPECT_EQ(words_of(time_left(pass, 0, {})), "1 m 00 s left");
  EXPECT_EQ(words_of(time_left(pass, 25, measuring(9, 20))), "35 s left");
  EXPECT_EQ(words_of(time_left(pass, 61, measuring(9, 20))), "");  // slower than those before it
}

TEST(TimeLeft, OfTheFirstPassFollowsFromItsOwnPace) {
  run::PassInfo pass;
  pass.number = 1, pass.of = 1, pass.samples_planned = 20'000;
  EXPECT_EQ(words_of(time_left(pass, 12, measuring(1'450, 10))), "2 m 08 s left");
  EXPECT_EQ(words_of(time_left(pass, 2, {})), "");  // it loads
  pass.of = 2;                                      // the next one takes as long, with its start
  EXPECT_EQ(words_of(time_left(pass, 12, measuring(10'000, 10))), "32 s left");
  pass.samples_planned = 0, pass.most_s = 60;
  EXPECT_EQ(words_of(time_left(pass, 12, measuring(9, 10))), "");
  pass.of = 1;
  EXPECT_EQ(words_of(time_left(pass, 12, measuring(9, 10))), "at most 50 s left");
  pass.fixed_time = true;
  EXPECT_EQ(words_of(time_left(pass, 12, measuring(9, 10))), "50 s left");
}

TEST(Figures, BlocksHaveNoMedianLatency) {
  pass::ProgressRecord r;
  EXPECT_EQ(figures_of(r), "");
  r.n = 40, r.p50_ns = 2e6, r.ci_low_ns = 1.9e6, r.ci_high_ns = 2.1e6;
  EXPECT_EQ(figures_of(r), "n=40 p50 2.00 ms (1.90–2.10)");
  r.blocks = true;
  EXPECT_EQ(figures_of(r), "blocks=40 back to back 2.00 ms (1.90–2.10)");
}

TEST(WordsOfSteps, NameThroughputLossSlowestRankAndParts) {
  EXPECT_EQ(words_of(steps()),
            "128 samples/s  loss 2.35  slowest: rank 1 (+1.8 %)  data 0.0 %  fwd 40.0 %  bwd 50.0 %  exposed "
            "comm 5.0 %  opt 5.0 %");
}

TEST(WordsOfSteps, LeaveOutUnknownFigures) {
  auto s = steps();
  s.loss = Number::missing("not finite");
  s.slowest.reset();
  s.shares[result::StepPart::kExposed] = {};
  EXPECT_EQ(words_of(s), "128 samples/s  data 0.0 %  fwd 40.0 %  bwd 50.0 %  opt 5.0 %");
}

}  // namespace
}  // namespace paceline::cli
