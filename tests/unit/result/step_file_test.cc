// SPDX-License-Identifier: MIT
#include "result/stored/step_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
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

std::uint32_t number_at(const std::string& content, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, content.data() + at, sizeof number);
  return number;
}
std::string bytes_of(std::uint32_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// Removes one of the file's columns.
std::string without_column(const std::string& content, const char* name) {
  constexpr std::size_t kPrefix = 16, kWord = 8, kBlockHead = 8;
  auto header = nlohmann::json::parse(content.substr(kPrefix, number_at(content, kPrefix - 4)));
  auto& columns = header["columns"];
  std::size_t column = 0;
  while (columns.at(column).front() != name) ++column;
  const std::size_t words = columns.size();
  columns.erase(column);
  auto text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  auto less = content.substr(0, kPrefix - 4) + bytes_of(static_cast<std::uint32_t>(text.size())) + text;
  std::size_t at = kPrefix + number_at(content, kPrefix - 4);
  while (at + kBlockHead < content.size()) {
    const auto rows = number_at(content, at + 4);
    less += content.substr(at, kBlockHead), at += kBlockHead;
    for (std::uint32_t row = 0; row < rows; ++row, at += words * kWord)
      less += content.substr(at, words * kWord).erase(column * kWord, kWord);
  }
  const auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(less.data()), less.size());
  return less + bytes_of(0xFFFFFFFF) + bytes_of(static_cast<std::uint32_t>(crc));
}

TEST_F(StepFiles, WithoutOneOfTheColumnsAreRefused) {
  testing::write_step_file(file_, tables());
  const auto content = read_file(file_);
  for (const auto* name : {"forward_ns", "judged"})
    expect_refused(without_column(content, name), "other columns");
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
