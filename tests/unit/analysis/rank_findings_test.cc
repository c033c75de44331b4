// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/finding_table.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using ::paceline::testing::sample_run;
using result::Finding;

TEST(RankFindings, MostSevereFirstAndRoomForInsights) {
  const auto ranked = rank_findings(find_all(sample_run()));
  ASSERT_EQ(ranked.size(), 5U);
  EXPECT_EQ(ranked[0].id, "accuracy_failure");
  EXPECT_EQ(ranked[1].severity, "warning");
  EXPECT_EQ(ranked[3].id, "recommendation");
  EXPECT_EQ(ranked[4].id, "precision_speedup");
}

TEST(RankFindings, UnusedPlacesGoToWhatThereIs) {
  std::vector<Finding> insights(8), problems(8);
  for (auto& finding : insights) finding.severity = "insight";
  for (auto& finding : problems) finding.severity = "problem";
  EXPECT_EQ(rank_findings(insights).size(), 5U);
  EXPECT_EQ(rank_findings(problems).size(), 5U);
  EXPECT_TRUE(rank_findings({}).empty());
}

// Whether answers are right stands beside any number of other findings.
TEST(RankFindings, AccuracyIsNeverCut) {
  std::vector<Finding> all(12);
  for (auto& finding : all) finding.id = "noise", finding.severity = "problem";
  for (const char* id : {"accuracy_change", "unknown_accuracy", "accuracy_failure", "unclaimed_accuracy"})
    all.push_back({id, "insight", id, "", "", {}});
  const auto ranked = rank_findings(all, 3);
  EXPECT_EQ(std::ranges::count(ranked, "noise", &Finding::id), 0);
  EXPECT_EQ(ranked.size(), 4U);
  EXPECT_EQ(rank_findings(all, 6).size(), 6U);
}

TEST(RankFindings, OneOfAKindBeforeASecond) {
  std::vector<Finding> all(6);
  for (std::size_t at = 0; at < all.size(); ++at)
    all[at] = {at < 5 ? "a" : "b", "insight", std::to_string(at), "", "", {}};
  const auto ranked = rank_findings(all, 2);
  ASSERT_EQ(ranked.size(), 2U);
  EXPECT_EQ(ranked[1].id, "b");
}

TEST(ShownFindings, TheGradeComesLastWhereAllCasesHaveTheSame) {
  auto run = sample_run();
  const std::vector<result::Finding> all{{"noisy_cases", "warning", "2 cases of grade B"},
                                         {"straggler", "warning", "rank 1 is late"},
                                         {"layout", "insight", "channels_last is faster"}};
  EXPECT_EQ(shown_findings(run, all)[0].id, "noisy_cases") << "cases of several grades";
  for (auto& one : run.cases) one.grade = result::Grade::kB;
  EXPECT_EQ(shown_findings(run, all)[0].id, "straggler");
  EXPECT_EQ(shown_findings(run, all)[2].id, "noisy_cases");
}

}  // namespace
}  // namespace paceline::analysis
