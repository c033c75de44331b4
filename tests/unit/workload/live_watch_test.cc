// SPDX-License-Identifier: MIT
#include "workload/training/live_watch.h"

#include <gmock/gmock.h>

#include "support/simulated_training.h"
#include "support/thread_group.h"

namespace paceline::workload {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Watched {
  std::vector<std::string> warnings;
  std::optional<pass::SlowestRank> slowest;
};

// Each rank is a thread that shows its watch one step after the other.
Watched watched(const std::vector<result::RankSteps>& tables) {
  Watched seen;
  test::on_ranks(static_cast<int>(tables.size()), [&](plugin::RankGroup& group) {
    const ClockSampler clocks("cpu");
    const auto& table = tables[static_cast<std::size_t>(group.rank())];
    LiveWatch watch({&group,
                     [&](std::vector<result::StepRow> rows) {
                       result::RankSteps last;
                       last.rank = table.rank, last.rows = std::move(rows);
                       return last;
                     },
                     [&](const std::string& words) { seen.warnings.push_back(words); },
                     RankObserver({}, clocks)});
    std::vector<result::StepRow> rows;
    for (const auto& row : table.rows) {
      rows.push_back(row);
      watch.between_steps(rows);
    }
    if (group.rank() == 0) seen.slowest = watch.slowest();
  });
  return seen;
}

constexpr const char* kLate = "the others wait for rank 1, which is late in its backward part: ";

TEST(LiveWatch, ALateRankIsSaidOnce) {
  const auto seen =
      watched(testing::simulate({.ranks = 3, .steps = 200, .delays = {{.rank = 1, .ms = 20}}}).ranks);
  EXPECT_THAT(seen.warnings, ElementsAre(StartsWith(kLate)));
  ASSERT_TRUE(seen.slowest);
  EXPECT_EQ(seen.slowest->rank, 1);
  EXPECT_NEAR(seen.slowest->beyond, 0.25, 0.05);
}

TEST(LiveWatch, EvenRanksAreNotWarnedOf) {
  EXPECT_TRUE(watched(testing::simulate({.ranks = 2, .steps = 120}).ranks).warnings.empty());
  EXPECT_TRUE(watched(testing::simulate({.ranks = 1, .steps = 120}).ranks).warnings.empty());
}

// Exchanges vary during the first window, and a rank is late from a later one on.
TEST(LiveWatch, AWarningOfSynchronisationDoesNotSilenceThatOfALateRank) {
  auto run =
      testing::simulate({.ranks = 2, .steps = 200, .delays = {{.rank = 1, .ms = 20, .from_step = 60}}});
  for (auto& table : run.ranks)
    for (auto& row : table.rows)
      if (row.step < 30 && row.step % 4 == 0)
        row.ns[result::StepPart::kExposed] += 40'000'000, row.step_ns += 40'000'000;
  EXPECT_THAT(watched(run.ranks).warnings,
              ElementsAre(HasSubstr("gradient synchronisation varies by"), HasSubstr(kLate)));
}

TEST(LiveWatch, WithoutAGroupItLooksAtNothing) {
  const ClockSampler clocks("cpu");
  LiveWatch watch({nullptr, nullptr, nullptr, RankObserver({}, clocks)});
  watch.between_steps(testing::simulate({.ranks = 1}).ranks.front().rows);
  EXPECT_FALSE(watch.slowest());
}

}  // namespace
}  // namespace paceline::workload
