// SPDX-License-Identifier: MIT
#include "history/prune.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/scratch_folder.h"
#include "history_runs.h"

namespace paceline::history {
namespace {

using ::testing::ElementsAre;
using testing::run_id_of;
using testing::run_of;
using testing::write_run;
namespace fs = std::filesystem;

class PruneTest : public ::testing::Test {
 protected:
  PruneTest() {
    for (int i = 0; i < 5; ++i) folders_.push_back(write_run(results_, run_of(i, 1)));
    index_.update();
  }
  [[nodiscard]] std::vector<std::string> doomed(const PruneRules& rules) const {
    std::vector<std::string> ids;
    for (const auto& one : plan_prune(index_, rules).runs) ids.push_back(one.run_id);
    return ids;
  }

  ScratchFolder scratch_ = ScratchFolder::below_temp("prune");
  fs::path results_ = fs::canonical(scratch_.path());
  std::vector<fs::path> folders_;
  Index index_{results_};
};

TEST_F(PruneTest, TheOldestGoUntilTheRestFits) {
  const auto all = plan_prune(index_, {});
  EXPECT_EQ(all.runs.size(), 5U);
  EXPECT_TRUE(all.fits);
  const auto bytes = all.bytes;
  EXPECT_TRUE(doomed({bytes, 0}).empty());
  EXPECT_THAT(doomed({bytes - 1, 0}), ElementsAre(run_id_of(0)));
  EXPECT_THAT(doomed({0, 3}), ElementsAre(run_id_of(0), run_id_of(1)));
  EXPECT_FALSE(plan_prune(index_, {0, 3}).fits);
}

TEST_F(PruneTest, TaggedPinnedImportedAndUnfinishedRunsStay) {
  const auto elsewhere = fs::path(results_.string() + "-elsewhere");
  const ScratchFolder other(elsewhere);
  const auto imported = write_run(elsewhere, run_of(9, 1));
  index_.set_marks({{{"good", run_id_of(0)}}, {{"base", run_id_of(1)}}, {}, {imported.string()}});
  index_.update();
  const result::RunDirectory writing(folders_[2]);
  EXPECT_THAT(doomed({0, 0}), ElementsAre(run_id_of(3), run_id_of(4)));
}

TEST_F(PruneTest, DeletedRunsAreGoneAndTheirFiguresStay) {
  prune(index_, plan_prune(index_, {0, 2}));
  for (std::size_t i = 0; i < folders_.size(); ++i) EXPECT_EQ(fs::exists(folders_[i]), i >= 3) << i;
  const auto runs = index_.runs(headline_metrics());
  ASSERT_EQ(runs.size(), 5U);
  EXPECT_TRUE(runs[4].gone);
  EXPECT_NE(headline_figure(runs[4].run.cases.at(0)), nullptr);
  prune(index_, plan_prune(index_, {0, 0}));
  EXPECT_FALSE(fs::exists(results_ / "bench"));
}

TEST_F(PruneTest, OnlyTheFolderOfThatRunBelowTheIndexIsDeleted) {
  const auto plan_of = [&](const std::string& id, const fs::path& folder) {
    return PrunePlan{{{id, folder, 1}}, 1, 0, true};
  };
  const auto precious = fs::path(results_.string() + "-precious");
  const ScratchFolder other(precious);
  const auto outside = write_run(precious, run_of(8, 1));
  fs::create_directory_symlink(outside, results_ / "bench/link");
  fs::create_directories(results_ / "bench/notes");
  for (const auto& plan :
       {plan_of(run_id_of(8), outside), plan_of(run_id_of(8), results_ / "bench/link"),
        plan_of(run_id_of(8), results_ / "bench/../../" / precious.filename() / "bench" / run_id_of(8)),
        plan_of("x", results_), plan_of("x", results_ / "bench"), plan_of("x", results_ / "bench/notes"),
        plan_of(run_id_of(1), folders_[0])})
    EXPECT_THROW(prune(index_, plan), Error) << plan.runs[0].folder;
  EXPECT_TRUE(fs::exists(outside / result::kSummaryFile));
  EXPECT_TRUE(fs::exists(folders_[0] / result::kSummaryFile));
  EXPECT_TRUE(fs::exists(results_ / "bench/notes"));
}

TEST_F(PruneTest, AKilledDeletionIsFinishedByTheNext) {
  fs::rename(folders_[0], results_ / ".pruned-left");
  prune(index_, {});
  EXPECT_FALSE(fs::exists(results_ / ".pruned-left"));
}

}  // namespace
}  // namespace paceline::history
