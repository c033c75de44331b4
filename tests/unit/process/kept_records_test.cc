// SPDX-License-Identifier: MIT
// Records of finished passes as --resume finds them: whole, changed, cut short, or somebody else's.
#include "process/kept_records.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline::process {
namespace {

namespace fs = std::filesystem;

std::string line(const nlohmann::json& record) {
  return record.dump() + "\n";
}
std::string finished_pass() {
  return line(pass::phase_record("measure")) + line(pass::done_record());
}

class KeptRecordsTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string problem(const std::string& case_id = "a") const {
    const auto kept = read_kept_records(file_, case_id);
    EXPECT_NE(kept.report.has_value(), !kept.problem.empty());
    return kept.problem;
  }

  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-kept");
  fs::path file_ = scratch_.path() / "timed-0.jsonl";
};

TEST_F(KeptRecordsTest, AFinishedPassIsReadBack) {
  keep_records(file_, finished_pass(), "a");
  const auto kept = read_kept_records(file_, "a");
  EXPECT_EQ(kept.problem, "");
  ASSERT_TRUE(kept.report);
  EXPECT_TRUE(kept.report->done);
  EXPECT_EQ(kept.report->phase, "exit");  // after the last record
}

TEST_F(KeptRecordsTest, NoFileIsNoProblem) {
  const auto kept = read_kept_records(file_, "a");
  EXPECT_FALSE(kept.report);
  EXPECT_EQ(kept.problem, "");
}

TEST_F(KeptRecordsTest, NamesRecordsThatDoNotFit) {
  keep_records(file_, finished_pass(), "a");
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(problem("b"), "it belongs to another case");

  const auto text = read_file(file_);
  const auto other = scratch_.path() / "timed-1.jsonl";
  write_file_atomic(other, text);
  EXPECT_EQ(read_kept_records(other, "a").problem, "it belongs to another pass");

  auto changed = text;
  changed.replace(changed.find("measure"), 7, "warm-up");
  write_file_atomic(file_, changed);
  EXPECT_EQ(problem(), "it was changed after it was written");

  const auto seal = text.rfind('\n', text.size() - 2) + 1;
  for (const auto& cut : {text.substr(0, seal), text.substr(0, text.size() - 1), text.substr(0, seal - 5)}) {
    write_file_atomic(file_, cut);
    EXPECT_EQ(problem(), "it is cut short") << cut;
  }
}

TEST_F(KeptRecordsTest, APassThatDidNotEndIsNoPass) {
  keep_records(file_, line(pass::phase_record("measure")), "a");
  EXPECT_EQ(problem(), "the pass did not end");
}

TEST_F(KeptRecordsTest, EarlierRecordsAreSetAsideWithTheirTables) {
  keep_records(file_, finished_pass(), "a");
  write_file_atomic(table_of(file_), "steps");
  keep_records(file_, finished_pass(), "b");
  keep_records(file_, finished_pass(), "c");
  EXPECT_EQ(problem("c"), "");
  EXPECT_NE(read_file(file_.string() + ".1").find("\"a\""), std::string::npos);
  EXPECT_NE(read_file(file_.string() + ".2").find("\"b\""), std::string::npos);
  EXPECT_EQ(read_file(table_of(file_).string() + ".1"), "steps");
  EXPECT_FALSE(fs::exists(table_of(file_)));
}

TEST_F(KeptRecordsTest, ARecordIsAddedUnderANewSeal) {
  keep_records(file_, finished_pass(), "a");
  add_kept_record(file_, pass::phase_record("more"), "a");
  const auto kept = read_kept_records(file_, "a");
  ASSERT_TRUE(kept.report) << kept.problem;
  EXPECT_EQ(kept.report->phase, "more");
  EXPECT_TRUE(kept.report->done);
}

TEST_F(KeptRecordsTest, UnfinishedRecordsTellUpToTheLineThatIsCutOff) {
  EXPECT_FALSE(read_unfinished_records(file_));
  EXPECT_EQ(unfinished_records_of(file_), scratch_.path() / "unfinished-timed-0.jsonl");
  const auto measured = line(pass::phase_record("8 KiB"));
  write_file_atomic(unfinished_records_of(file_), measured + R"({"type":"phase","pha)");
  const auto report = read_unfinished_records(file_);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->phase, "8 KiB");
  EXPECT_FALSE(report->done);
}

TEST_F(KeptRecordsTest, AStepFileOfAnotherPassIsRefused) {
  pass::PassReport none;
  read_tables(none, table_of(file_));  // it asks for no file
  EXPECT_TRUE(none.get<pass::TrainingReport>().rank_steps.empty());
  pass::PassReport report;
  report.fill<pass::TrainingReport>().step_file.emplace();
  EXPECT_THROW(read_tables(report, table_of(file_)), Error);
}

}  // namespace
}  // namespace paceline::process
