// SPDX-License-Identifier: MIT
#include "base/fault.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline {
namespace {

TEST(Fault, ReadsEveryForm) {
  EXPECT_EQ(parse_fault("").kind, Fault::Kind::kNone);
  const auto kill = parse_fault("kill:rank=1,step=50");
  EXPECT_EQ(kill.kind, Fault::Kind::kKill);
  EXPECT_EQ(kill.rank, 1);
  EXPECT_EQ(kill.step, 50);
  const auto slow = parse_fault("slow=200ms:rank=3");
  EXPECT_EQ(slow.kind, Fault::Kind::kSlow);
  EXPECT_DOUBLE_EQ(slow.seconds, 0.2);
  EXPECT_DOUBLE_EQ(parse_fault("slow=1.5s").seconds, 1.5);
  EXPECT_EQ(parse_fault("slow_load=20ms").rank, Fault::kEveryRank);
  EXPECT_EQ(parse_fault("slow_load=20ms:rank=1").rank, 1);
  EXPECT_EQ(parse_fault("slow_link=5ms:step=3").step, 3);
  EXPECT_THROW(parse_fault("slow_link=5ms:rank=1"), Error);
  EXPECT_EQ(parse_fault("throttle").kind, Fault::Kind::kThrottle);
  EXPECT_DOUBLE_EQ(parse_fault("slow_save=4s:rank=1").seconds, 4);
}

TEST(Fault, RefusesEverythingElse) {
  for (const char* text : {"die:rank=1",
                           "kill:rank",
                           "kill:rank=-1",
                           "kill:node=1",
                           "slow:rank=1",
                           "slow=2m:rank=1",
                           "slow=0s",
                           "slow=-1s",
                           "slow=nans",
                           "slow=1e9s",
                           "slow=",
                           "slow_save:rank=1",
                           "kill=3:rank=1",
                           "kill:rank=1,step=x",
                           "kill:",
                           "kill:rank=",
                           "kill:rank=1,rank=2",
                           "kill:step=1,",
                           ":rank=1",
                           "kill:rank=99999999999999999999",
                           "Kill",
                           " "})
    EXPECT_THROW(parse_fault(text), Error) << text;
}

}  // namespace
}  // namespace paceline
