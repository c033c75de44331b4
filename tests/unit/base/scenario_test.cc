// SPDX-License-Identifier: MIT
#include "base/scenario.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(Scenario, RowsStandInTheOrderOfTheEnumeration) {
  for (const auto& row : kScenarios) {
    EXPECT_EQ(&traits_of(row.scenario), &row) << row.name;
    EXPECT_EQ(parse_scenario(row.name), row.scenario) << row.name;
  }
}

TEST(Scenario, HasOneNameEach) {
  EXPECT_EQ(traits_of(Scenario::kSync).name, "sync");
  EXPECT_EQ(traits_of(Scenario::kClosedLoop).name, "closed_loop");
  EXPECT_EQ(traits_of(Scenario::kServer).name, "server");
  EXPECT_EQ(traits_of(Scenario::kOffline).name, "offline");
  for (const char* text : {"", "Server", "servers", "closed loop"})
    EXPECT_EQ(parse_scenario(text), std::nullopt) << text;
}

TEST(Scenario, WorkArrivesInOneWay) {
  for (const auto& row : kScenarios) {
    EXPECT_EQ(row.one_at_a_time + row.keeps_in_flight + row.open_loop + row.all_at_start, 1) << row.name;
    EXPECT_TRUE(row.open_loop || (!row.rate_is_offered && !row.has_queue)) << row.name;
  }
  EXPECT_TRUE(traits_of(Scenario::kServer).rate_is_offered);
}

}  // namespace
}  // namespace paceline
