// SPDX-License-Identifier: MIT
#include "history/index.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "history/listing.h"
#include "history_runs.h"

namespace paceline::history {
namespace {

using ::testing::ElementsAre;
using testing::entry_in;
using ::testing::HasSubstr;
using testing::run_id_of;
using testing::run_of;
using testing::write_run;
namespace fs = std::filesystem;

class IndexTest : public ::testing::Test {
 protected:
  ScratchFolder scratch_ = ScratchFolder::below_temp("history");
  fs::path results_ = fs::canonical(scratch_.path());

  [[nodiscard]] std::vector<std::string> ids() const {
    std::vector<std::string> ids;
    for (const auto& one : Index(results_).runs(headline_metrics())) ids.push_back(one.run.run_id);
    return ids;
  }
};

TEST_F(IndexTest, UpdateReadsNewFoldersOnceAndChangedOnesAgain) {
  for (int i = 0; i < 3; ++i) write_run(results_, run_of(i, 1 + i));
  EXPECT_EQ(Index(results_).update().added, 3U);
  EXPECT_EQ(Index(results_).update().added, 0U);
  EXPECT_THAT(ids(), ElementsAre(run_id_of(2), run_id_of(1), run_id_of(0)));
  write_run(results_, run_of(1, 7.25));
  EXPECT_EQ(Index(results_).update().added, 1U);
  const auto runs = Index(results_).runs(headline_metrics());
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_DOUBLE_EQ(headline_figure(runs[1].run.cases.at(0))->value, 7.25);
  EXPECT_DOUBLE_EQ(*headline_figure(runs[1].run.cases[0])->low, 7.25 * 0.98);
  EXPECT_EQ(runs[1].run.system.at("kernel"), "6.1");
  EXPECT_EQ(runs[1].run.machine_words, "Test CPU, 2 cores");
}

TEST_F(IndexTest, ARunWhoseFolderIsGoneStaysMarked) {
  const auto folder = write_run(results_, run_of(0, 1));
  write_run(results_, run_of(1, 1));
  Index(results_).update();
  fs::remove_all(folder);
  Index index(results_);
  EXPECT_EQ(index.update().gone, 1U);
  EXPECT_EQ(index.update().gone, 0U);
  const auto runs = index.runs(headline_metrics());
  EXPECT_FALSE(runs.at(0).gone);
  EXPECT_TRUE(runs.at(1).gone);
  EXPECT_EQ(index.rebuild().added, 1U);
  EXPECT_EQ(index.runs(headline_metrics()).size(), 1U);
}

TEST_F(IndexTest, AFolderThatCannotBeReadIsLeftOut) {
  write_run(results_, run_of(0, 1));
  fs::create_directories(results_ / "bench/broken");
  replace_file(results_ / "bench/broken" / result::kSummaryFile, "{");
  const auto updated = Index(results_).update();
  EXPECT_EQ(updated.added, 1U);
  EXPECT_THAT(updated.unreadable, ElementsAre(HasSubstr("broken")));
}

TEST_F(IndexTest, TheFolderOfRunsMayMove) {
  const auto old = results_ / "old", moved = results_ / "new";
  write_run(old, run_of(0, 1));
  Index(old).update();
  fs::rename(old, moved);
  Index index(moved);
  EXPECT_EQ(index.update().added, 0U);
  EXPECT_EQ(index.runs(headline_metrics()).at(0).run.folder, (moved / "bench" / run_id_of(0)).string());
}

TEST_F(IndexTest, EarlierValuesAreOfTheSameCaseMetricAndMachine) {
  Index index(results_);
  for (int i = 0; i < 5; ++i) index.add(entry_in(results_, i, 1 + i));
  auto elsewhere = entry_in(results_, 6, 50);
  elsewhere.machine = "another";
  index.add(elsewhere);
  index.add(entry_in(results_, 9, 60));  // later
  const auto now = entry_in(results_, 7, 9);
  const auto earlier = index.earlier(now.cases[0].key, "p50_ms", now, 3);
  ASSERT_EQ(earlier.size(), 3U);
  EXPECT_EQ(earlier[0].run_id, run_id_of(4));
  EXPECT_DOUBLE_EQ(earlier[0].value, 5);
  EXPECT_DOUBLE_EQ(earlier[2].value, 3);
}

TEST_F(IndexTest, EqualBenchmarksHaveOneKeyWhateverTheirId) {
  auto a = run_of(0, 1).cases[0].benchmark, b = a;
  b.id = "another";
  EXPECT_EQ(identity_key(a), identity_key(b));
  b.params["sequence_length"] = "128";
  EXPECT_NE(identity_key(a), identity_key(b));
}

TEST_F(IndexTest, ARecordedScheduleIsKnownByItsTimes) {
  auto a = run_of(0, 1).cases[0].benchmark, b = a;
  const auto drawn = identity_key(a);
  a.params["server.arrival"] = b.params["server.arrival"] = "flow.csv";
  a.schedule = "1f2e3d4c5b6a7988", b.schedule = "0123456789abcdef";
  EXPECT_NE(identity_key(a), identity_key(b));
  EXPECT_NE(identity_key(a), drawn);
  b.params["server.arrival"] = "copy/flow.csv", b.schedule = a.schedule;
  EXPECT_EQ(identity_key(a), identity_key(b));
}

TEST_F(IndexTest, TheMachineIsItsHardware) {
  auto run = run_of(0, 1);
  const auto machine = entry_of({results_, run}).machine;
  run.environment["os"] = {{"kernel", "6.2"}};
  EXPECT_EQ(entry_of({results_, run}).machine, machine);
  run.environment["cpu"]["cores_allowed"] = 1;
  EXPECT_NE(entry_of({results_, run}).machine, machine);
  run.environment = nlohmann::json::object();
  EXPECT_EQ(entry_of({results_, run}).machine, "");
}

TEST_F(IndexTest, ACaseUnderAProfilerHasNoFigures) {
  auto run = run_of(0, 1);
  EXPECT_FALSE(entry_of({results_, run}).cases.at(0).figures.empty());
  run.cases[0].noise.instrument = "nsys";
  EXPECT_TRUE(entry_of({results_, run}).cases.at(0).figures.empty());
}

TEST_F(IndexTest, APeakOfAnEarlierRunSaysNothingOfTheMachineNow) {
  auto run = run_of(60, 1);  // began at 01:00
  run.cases[0].flops.peak_measured_flops_per_s = 2e11;
  const auto peaks = [&](const char* source) {
    run.cases[0].flops.peak_source = source;
    const auto entry = entry_of({results_, run});
    return std::ranges::count(entry.cases.at(0).figures, kControlPeak, &Figure::metric);
  };
  EXPECT_EQ(peaks("peak_conv fp32, measured 2026-01-01T01:00:05Z, on a quiet machine"), 1);
  EXPECT_EQ(peaks("peak_conv fp32, measured 2026-01-01T00:59:59Z"), 0);
  EXPECT_EQ(peaks(""), 0);
}

TEST_F(IndexTest, ADamagedFileIsRenamedOnceAndMadeAgain) {
  write_run(results_, run_of(0, 1));
  Index(results_).update();
  std::ofstream(results_ / kIndexFile, std::ios::trunc) << std::string(9000, 'x');
  std::vector<std::string> warnings;
  std::size_t runs = 0;
  for (int time = 0; time < 2; ++time)
    with_index(
        results_, [&](const std::string& text) { warnings.push_back(text); },
        [&](Index& index) { runs = index.runs(headline_metrics()).size(); });
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("is damaged")));
  EXPECT_EQ(runs, 1U);
  EXPECT_TRUE(fs::exists(results_ / "paceline.db.damaged"));
}

TEST_F(IndexTest, TablesOfAnotherVersionAreMadeAgain) {
  write_run(results_, run_of(0, 1));
  Index(results_).update();
  Database(results_ / kIndexFile).run("PRAGMA user_version = 99");
  Index index(results_);
  EXPECT_TRUE(index.runs(headline_metrics()).empty());
  EXPECT_EQ(index.update().added, 1U);
}

TEST_F(IndexTest, EightWritersAddEveryRun) {
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 8; ++writer)
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 10; ++i) Index(results_).add(entry_in(results_, writer * 10 + i, 1));
    });
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(ids().size(), 80U);
}

TEST_F(IndexTest, ARunIsAddedToAThousand) {
  {
    Index index(results_);
    for (int i = 0; i < 1000; ++i) index.add(entry_in(results_, i, 1));
  }
  const auto entry = entry_in(results_, 1000, 1);
  const auto begin_ns = SteadyClock{}.now_ns();
  Index(results_).add(entry);
  RecordProperty("add_ms",
                 fmt::format("{:.2f}", static_cast<double>(SteadyClock{}.now_ns() - begin_ns) * 1e-6));
  EXPECT_EQ(Index(results_).runs(headline_metrics()).size(), 1001U);
  EXPECT_EQ(Index(results_).earlier(entry.cases[0].key, "p50_ms", entry, 10).size(), 10U);
}

TEST_F(IndexTest, MarksOutliveTheIndex) {
  write_run(results_, run_of(0, 1));
  Index(results_).set_marks(
      {{{"good", run_id_of(0)}}, {{"base", run_id_of(0)}}, {{run_id_of(0), "a note"}}, {}});
  fs::remove(results_ / kIndexFile);
  Index(results_).update();
  const auto run = Index(results_).runs(headline_metrics()).at(0);
  EXPECT_THAT(run.tags, ElementsAre("good"));
  EXPECT_THAT(run.pins, ElementsAre("base"));
  EXPECT_EQ(run.run.note, "a note");
  replace_file(results_ / kMarksFile, "[1]");
  EXPECT_THROW(Index{results_}, Error);
}

TEST_F(IndexTest, AnImportedRunIsReadWhereItIs) {
  const auto elsewhere = results_ / "artefacts", here = results_ / "here";
  fs::create_directories(here);
  const auto folder = write_run(elsewhere, run_of(0, 1));
  Index index(here);
  index.set_marks({{}, {}, {}, {folder.string()}});
  EXPECT_EQ(index.update().added, 1U);
  EXPECT_TRUE(index.runs(headline_metrics()).at(0).elsewhere);
  EXPECT_EQ(index.runs(headline_metrics()).at(0).run.folder, folder.string());
}

TEST_F(IndexTest, FiltersKeepRunsAndOfThemCases) {
  Index index(results_);
  for (int i = 0; i < 3; ++i) index.add(entry_in(results_, i, 1));
  const auto all = index.runs(headline_metrics());
  const auto count = [&](const Filter& filter) { return selected(all, filter).size(); };
  EXPECT_EQ(count({}), 3U);
  EXPECT_EQ(count({.since = "2026-01-01T00:01"}), 2U);
  EXPECT_EQ(count({.until = "2026-01-01T00:01"}), 2U);
  EXPECT_EQ(count({.until = "2025"}), 0U);
  EXPECT_EQ(count({.experiments = {"bench"}}), 3U);
  EXPECT_EQ(count({.experiments = {"other"}}), 0U);
  EXPECT_EQ(count({.models = {"other"}}), 0U);
  EXPECT_EQ(count({.tags = {"good"}}), 0U);
  EXPECT_EQ(count({.case_text = "RESNET"}),
            all[0].run.cases[0].label.find("resnet") == std::string::npos ? 0U : 3U);
}

TEST_F(IndexTest, ATimeIsTheBeginningOfOne) {
  for (const char* good : {"2026", "2026-11", "2026-11-21T10:30", "2026-11-21T10:30:59Z"})
    EXPECT_NO_THROW(check_time("--since", good));
  for (const char* bad : {"", "202", "yesterday", "2026/11", "2026-11-21 10:30", "2026-11-21T10:30:59Z0"})
    EXPECT_THROW(check_time("--since", bad), Error) << bad;
}

}  // namespace
}  // namespace paceline::history
