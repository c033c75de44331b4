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

TEST(WorkloadKind, AnswersWhatItsCasesHave) {
  const auto &inference = traits_of(WorkloadKind::kInference), &training = traits_of(WorkloadKind::kTraining),
             &collective = traits_of(WorkloadKind::kCollective);
  EXPECT_TRUE(inference.runs_engine && inference.checks_outputs && inference.has_latency);
  EXPECT_FALSE(inference.trains || inference.other_backend);
  EXPECT_TRUE(training.trains && training.other_backend);
  for (const auto* ranked : {&training, &collective})
    EXPECT_FALSE(ranked->runs_engine || ranked->checks_outputs || ranked->has_latency) << ranked->name;
  EXPECT_FALSE(collective.trains || collective.other_backend);
}

}  // namespace
}  // namespace paceline
