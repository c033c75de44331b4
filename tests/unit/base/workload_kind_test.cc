// SPDX-License-Identifier: MIT
#include "base/workload_kind.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(WorkloadKind, RowsStandInTheOrderOfTheEnumeration) {
  for (const auto& row : kWorkloadKinds) EXPECT_EQ(&traits_of(row.kind), &row) << row.name;
  EXPECT_EQ(traits_of(WorkloadKind::kInference).name, "inference");
  EXPECT_EQ(traits_of(WorkloadKind::kCollective).name, "collective");
}

TEST(WorkloadKind, KnowsWhichRunByRanks) {
  EXPECT_FALSE(traits_of(WorkloadKind::kInference).by_ranks);
  EXPECT_TRUE(traits_of(WorkloadKind::kTraining).by_ranks && traits_of(WorkloadKind::kCollective).by_ranks);
}

}  // namespace
}  // namespace paceline
