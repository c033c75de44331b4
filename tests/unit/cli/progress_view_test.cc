// SPDX-License-Identifier: MIT
#include "cli/progress_view.h"

#include <gtest/gtest.h>

namespace paceline::cli {
namespace {

pass::LiveSteps steps() {
  pass::LiveSteps s;
  s.samples_per_s = 128, s.loss = 2.345, s.slowest = pass::SlowestRank{1, 0.018};
  s.shares.values = {0.0, 0.3, 0.4, 0.5, 0.05, 0.05};
  return s;
}

TEST(Figures, OfBlocksAreNoMedianLatency) {
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

TEST(WordsOfSteps, LeaveOutWhatIsNotKnown) {
  auto s = steps();
  s.loss = result::Number::missing("not finite");
  s.slowest.reset();
  s.shares[result::StepPart::kExposed] = {};
  EXPECT_EQ(words_of(s), "128 samples/s  data 0.0 %  fwd 40.0 %  bwd 50.0 %  opt 5.0 %");
}

}  // namespace
}  // namespace paceline::cli
