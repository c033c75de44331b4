// SPDX-License-Identifier: MIT
#include "result/step_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "support/simulated_training.h"
#include "support/step_files.h"

namespace paceline::result {
namespace {

class StepFiles : public ::testing::Test {
 protected:
  // 150 steps: more than a rank writes at once.
  static std::vector<RankSteps> tables() {
    auto ranks = testing::simulate({.ranks = 3, .steps = 150}).ranks;
    ranks[1].rows[7].loss.reset();
    ranks[1].rows[8].buckets[1].finish_ns.reset();
    ranks[2].rows[0].buckets.clear();
    ranks[2].rows[9].skipped = true;
    ranks[0].held_out.emplace_back().samples = 40;
    ranks[0].loader_samples_per_s = 12.5;
    ranks[2].rank.cpus = "0-3";
    return ranks;
  }
  [[nodiscard]] std::string words_of(const std::string& content) const {
    write_file_atomic(file_, content);
    try {
      read_step_file(file_);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kData);
      EXPECT_NE(std::string(e.what()).find(file_.string()), std::string::npos) << e.what();
      return e.what();
    }
    return "accepted";
  }
  void expect_refused(const std::string& content, const std::string& words) const {
    const auto said = words_of(content);
    EXPECT_NE(said.find(words), std::string::npos) << said;
  }

  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-steps");
  std::filesystem::path file_ = scratch_.path() / "timed-0.steps.bin";
};

TEST_F(StepFiles, ComeBackAsTheyWere) {
  const auto ranks = tables();
  const auto mark = testing::write_step_file(file_, ranks, 3);
  const auto read = read_step_file(file_);
  EXPECT_EQ(read.repetition, 3);
  EXPECT_FALSE(read.interrupted);
  EXPECT_EQ(read.mark, mark);
  EXPECT_EQ(mark.bytes, static_cast<std::int64_t>(std::filesystem::file_size(file_)));
  ASSERT_EQ(read.ranks.size(), ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i)
    EXPECT_EQ(rank_steps_text(read.ranks[i]), rank_steps_text(ranks[i])) << i;
}

TEST_F(StepFiles, ThatAreCutShortAreRefusedWhereverTheyEnd) {
  testing::write_step_file(file_, tables());
  const auto content = read_file(file_);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{7}, std::size_t{20}, std::size_t{900},
                                  content.size() / 2, content.size() - 8, content.size() - 1})
    expect_refused(content.substr(0, bytes), "is cut short");
  expect_refused(content + "x", "goes on after its end");
}

TEST_F(StepFiles, ThatWereChangedAreRefusedWhereverItWas) {
  testing::write_step_file(file_, tables());
  const auto content = read_file(file_);
  for (std::size_t at = 0; at < content.size(); at += 997) {
    auto changed = content;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_NE(words_of(changed), "accepted") << at;
  }
  auto value = content;
  value[content.size() - 20] = static_cast<char>(value[content.size() - 20] ^ 1);
  expect_refused(value, "was changed after it was written");
}

TEST_F(StepFiles, OfAnotherKindOrVersionAreRefused) {
  testing::write_step_file(file_, tables());
  auto newer = read_file(file_);
  newer[8] = 9;
  expect_refused(newer, "is of version 9, and this program reads version 1");
  expect_refused(std::string(100, 'x'), "is no step file");
  EXPECT_THROW(read_step_file(scratch_.path() / "none"), Error);
}

TEST_F(StepFiles, LackingRowsAreNamed) {
  const auto ranks = tables();
  StepFileHead head{.buckets = most_buckets(ranks[0])};
  for (const auto& table : ranks) head.entries.push_back(step_file_entry(table));
  StepFileWriter writer(file_, head);
  for (const auto& table : ranks)
    writer.add(step_block(table, 0, table.rank.rank == 1 ? 140 : 150, head.buckets));
  writer.finish();
  expect_refused(read_file(file_), "has 140 of the 150 steps of rank 1");
  head.entries.assign(2, step_file_entry({}));
  StepFileWriter(file_, head).finish();
  expect_refused(read_file(file_), "names a rank twice");
}

}  // namespace
}  // namespace paceline::result
