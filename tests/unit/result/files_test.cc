// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/csv_cell.h"
#include "base/error.h"
#include "base/file.h"
#include "result/run_directory.h"

namespace paceline::result {
namespace {
namespace fs = std::filesystem;

class RunFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("paceline-result-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

std::vector<Sample> samples() {
  return {{0, 0, 0, 100, 1'000'000, {}, 0},
          {0, 0, 1, 2'000'000, 1'100'000, 900'000, kSampleBatched},
          {1, 0, 0, 100, 1'200'000, {}, 0}};
}

TEST(CsvCell, FormulasAreTextAndNumbersStayNumbers) {
  EXPECT_EQ(csv_cell(std::string("+SUM(A1:A9)")), "'+SUM(A1:A9)");
  EXPECT_EQ(csv_cell(std::string("-2+3|cmd")), "'-2+3|cmd");
  EXPECT_EQ(csv_cell(std::string("@x")), "'@x");
  EXPECT_EQ(csv_cell(std::string("  =1+1")), "'  =1+1");
  EXPECT_EQ(csv_cell(std::string(" -2.5")), " -2.5");
  EXPECT_EQ(unguarded_cell("'  =1+1"), "  =1+1");
  EXPECT_EQ(csv_cell(std::string("\t=1")), "'\t=1");
  EXPECT_EQ(csv_cell(std::string("=A1,B1")), "\"'=A1,B1\"");
  for (const char* plain : {"-1.5", "+2e3", "-", "a=b", "resnet50", "", "'"})
    EXPECT_EQ(csv_cell(std::string(plain)), plain);
}

TEST(CsvCell, TheTextComesBack) {
  for (const std::string text : {"=1+1", "'=1+1", "''", "'quoted'", "-x", "-7"})
    EXPECT_EQ(unguarded_cell(csv_cell(text)), text);
}

TEST_F(RunFiles, SamplesSurviveTheDisk) {
  write_file_atomic(folder_ / "s.csv", samples_to_csv(samples()));
  EXPECT_EQ(read_samples_csv(folder_ / "s.csv"), samples());
  EXPECT_EQ(durations_ns(samples(), 1), (std::vector<double>{1'200'000}));
}

TEST_F(RunFiles, RequestsSurviveTheDisk) {
  auto requests = samples();
  requests[0].queue_ns = 5;
  requests[0].compute_ns = 999'995;
  requests[0].batch = 3;
  requests[0].instance = 1;
  requests[1].host_ns = 0;
  requests[1].flags = kSampleTimedOut;
  requests[2].flags = kSampleWarmup;
  const auto text = samples_to_csv(requests);
  EXPECT_NE(text.find("\n0,0,1,2000000,,900000,8,,,,,,,\n"), std::string::npos) << text;
  write_file_atomic(folder_ / "s.csv", text);
  EXPECT_EQ(read_samples_csv(folder_ / "s.csv"), requests);
  EXPECT_EQ(durations_ns(requests), (std::vector<double>{1'000'000}));
  EXPECT_EQ(latencies_ns(requests).size(), 2U);
}

TEST_F(RunFiles, PartsOfInferencesOnADeviceSurviveTheDisk) {
  auto inferences = samples();
  inferences[0].enqueue_ns = 30, inferences[0].compute_ns = 20, inferences[0].output_ns = 5;
  inferences[1].enqueue_ns = 31, inferences[1].input_ns = 6;
  const auto text = samples_to_csv(inferences);
  EXPECT_NE(text.find("flags,enqueue_ns,input_ns,compute_ns,output_ns\n"), std::string::npos) << text;
  write_file_atomic(folder_ / "s.csv", text);
  EXPECT_EQ(read_samples_csv(folder_ / "s.csv"), inferences);
  EXPECT_EQ(sample_columns(inferences).size(), 11U);
}

TEST_F(RunFiles, ACutSampleFileNamesItsLine) {
  auto text = samples_to_csv(samples());
  write_file_atomic(folder_ / "s.csv", text.substr(0, text.size() - 8));
  try {
    read_samples_csv(folder_ / "s.csv");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("s.csv:4"), std::string::npos) << e.what();
  }
}

void write_one_case(const RunDirectory& directory) {
  RunResult run;
  run.run_id = "run";
  CaseResult c;
  c.case_id = "a";
  c.repetitions.emplace_back();
  directory.write_case(c, samples());
  c.samples.file = "samples.csv";
  run.cases.push_back(c);
  directory.write_summary(run);
}

TEST_F(RunFiles, CaseAndSummaryComeBack) {
  write_one_case(RunDirectory(folder_ / "run"));
  const auto stored = read_run(folder_);  // the newest below it
  ASSERT_EQ(stored.run.cases.size(), 1U);
  EXPECT_EQ(read_case_samples(stored, stored.run.cases[0]).samples, samples());
  EXPECT_TRUE(fs::exists(folder_ / "run" / "summary.csv"));
  EXPECT_TRUE(fs::exists(folder_ / "run" / "cases" / "a" / "result.json"));
}

TEST_F(RunFiles, ASingleCaseLiesBesideTheSummary) {
  write_one_case(RunDirectory(folder_, CaseFiles::kBesideSummary));
  EXPECT_TRUE(fs::exists(folder_ / "result.json"));
  EXPECT_FALSE(fs::exists(folder_ / "cases"));
  const auto stored = read_run(folder_);
  EXPECT_EQ(read_case_samples(stored, stored.run.cases.at(0)).samples, samples());
}

TEST_F(RunFiles, ACaseThatHasAFolderKeepsIt) {
  write_one_case(RunDirectory(folder_));
  const RunDirectory again(folder_, CaseFiles::kBesideSummary);
  EXPECT_EQ(again.case_dir("a"), folder_ / "cases" / "a");
}

TEST_F(RunFiles, ACaseWithoutARepetitionIsNotMeasuredAndHasNoGrade) {
  RunResult run;
  run.run_id = "run";
  run.outcome = kUnfinished;
  CaseResult bare, failed;
  bare.case_id = "bare";
  failed.case_id = "failed";
  failed.outcome = Outcome::kFailed;
  run.cases = {bare, failed};
  RunDirectory(folder_ / "run").write_summary(run);
  const auto stored = read_run(folder_ / "run").run;
  EXPECT_EQ(stored.outcome, kUnfinished);
  EXPECT_EQ(stored.folder, (folder_ / "run").string());
  EXPECT_EQ(stored.cases.at(0).outcome, Outcome::kSkipped);
  EXPECT_EQ(stored.cases.at(0).reason_code, kNotMeasured);
  EXPECT_EQ(stored.cases.at(0).grade, Grade::kNone);
  EXPECT_NE(summary_csv(stored).find(",skipped,"), std::string::npos);
  EXPECT_NE(summary_csv(stored).find(",unfinished,"), std::string::npos) << summary_csv(stored);
}

TEST_F(RunFiles, AKilledRunsCaseResultsAreNewer) {
  const RunDirectory directory(folder_ / "run");
  RunResult run;
  run.run_id = "run", run.outcome = kUnfinished;
  run.cases.resize(2);
  run.cases[0].case_id = "a", run.cases[1].case_id = "b";
  for (auto& c : run.cases) c.repetitions.resize(1);
  directory.write_summary(run);
  auto newer = run.cases[0];
  newer.repetitions.resize(2);
  directory.write_case(newer, samples());
  write_file_atomic(directory.case_dir("b") / "result.json", "{ half of it");
  const auto stored = read_run(folder_ / "run");
  EXPECT_EQ(stored.run.cases[0].repetitions.size(), 2U);
  EXPECT_EQ(stored.run.cases[1].repetitions.size(), 1U);
  const auto read = read_case_samples(stored, stored.run.cases[0]);
  EXPECT_EQ(read.lacking, "");
  EXPECT_EQ(read.samples.size(), samples().size());
  run.outcome = "ok";
  directory.write_summary(run);
  EXPECT_EQ(read_run(folder_ / "run").run.cases[0].repetitions.size(), 1U);  // the summary has the last word
}

TEST_F(RunFiles, DeletedSamplesReadAsNone) {
  write_one_case(RunDirectory(folder_ / "run"));
  fs::remove(folder_ / "run" / "cases" / "a" / "samples.csv");
  const auto stored = read_run(folder_ / "run");
  const auto read = read_case_samples(stored, stored.run.cases.at(0));
  EXPECT_TRUE(read.samples.empty());
  EXPECT_EQ(read.lacking, "no samples.csv");
}

TEST_F(RunFiles, TwoWritersAreRefused) {
  const RunDirectory first(folder_ / "run");
  EXPECT_THROW(RunDirectory second(folder_ / "run"), Error);
}

TEST_F(RunFiles, CorruptSummariesAreNamed) {
  for (const char* text : {"", "{", "[]", "{\"cases\": 3}", "{\"cases\": [{\"stats\": {\"n\": true}}]}"}) {
    write_file_atomic(folder_ / "run_summary.json", text);
    try {
      read_run(folder_);
      FAIL() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kData);
      EXPECT_NE(std::string(e.what()).find("run_summary.json"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace paceline::result
