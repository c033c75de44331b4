// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "support/simulated_training.h"
#include "support/thread_group.h"
#include "workload/training/rank_report.h"

namespace paceline::workload {
namespace {

TEST(StepCollection, BringsTheTablesOfAllRanksIntoOneFile) {
  const auto scratch = paceline::ScratchFolder::below_temp("paceline-steps");
  const auto file = scratch.path() / "steps.bin";
  auto ranks = testing::simulate({.ranks = 3, .steps = 50}).ranks;
  ranks[1].rows.resize(20);
  std::optional<result::StepFileMark> mark;
  test::on_ranks(3, [&](plugin::RankGroup& group) {
    const auto made = collect_steps(&group, ranks[static_cast<std::size_t>(group.rank())], {2, true}, file);
    EXPECT_EQ(made.has_value(), group.rank() == 0);
    if (made) mark = made;
  });
  const auto read = result::read_step_file(file);
  EXPECT_EQ(read.mark, mark);
  EXPECT_EQ(read.repetition, 2);
  EXPECT_TRUE(read.interrupted);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(result::rank_steps_text(read.ranks.at(i)), result::rank_steps_text(ranks[i])) << i;
}

TEST(StepCollection, OfOneRankNeedsNoGroup) {
  const auto scratch = paceline::ScratchFolder::below_temp("paceline-steps");
  const auto ranks = testing::simulate({.ranks = 1, .steps = 5}).ranks;
  EXPECT_TRUE(collect_steps(nullptr, ranks[0], {}, scratch.path() / "steps.bin"));
  EXPECT_EQ(result::read_step_file(scratch.path() / "steps.bin").ranks.at(0).rows.size(), 5U);
}

// Rank 0 of a world of which only it brings bytes, as many as every other rank would.
class EqualPeers : public plugin::RankGroup {
 public:
  EqualPeers(int world, std::size_t& most_bytes) : world_(world), most_bytes_(most_bytes) {}
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int world() const override { return world_; }
  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override {}
  void reduce_max(std::span<double>) override {}
  std::vector<std::string> gather(const std::string& mine) override {
    most_bytes_ = std::max(most_bytes_, mine.size() * static_cast<std::size_t>(world_));
    return {mine};
  }

 private:
  int world_;
  std::size_t& most_bytes_;
};

TEST(StepCollection, PiecesAreBoundedForAnyNumberOfRanks) {
  const auto scratch = paceline::ScratchFolder::below_temp("paceline-steps");
  const auto mine = testing::simulate({.ranks = 1, .steps = 4000}).ranks.front();
  for (const int world : {64, 1024, 4096}) {
    std::size_t most_bytes = 0;
    EqualPeers group(world, most_bytes);
    EXPECT_TRUE(collect_steps(&group, mine, {}, scratch.path() / "steps.bin"));
    EXPECT_LE(most_bytes, std::size_t{17} << 20) << world;
  }
}

}  // namespace
}  // namespace paceline::workload
