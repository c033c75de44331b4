// SPDX-License-Identifier: MIT
#include "attach/step_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "attach/step_header.h"
#include "attach/step_totals.h"
#include "attach/trace_wish.h"

namespace paceline::attach {
namespace {

namespace fs = std::filesystem;

class StepWriting : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("step_writer_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name = "rank0.steps") const { return (folder_ / name).string(); }

  static StepRecord record(std::int64_t begin_ns, StepKind kind = StepKind::kScope) {
    StepRecord one{};
    one.begin_ns = begin_ns;
    one.end_ns = begin_ns + 5;
    one.kind = static_cast<std::uint8_t>(kind);
    return one;
  }

  [[nodiscard]] std::string bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] StepHeader header() const {
    StepHeader one{};
    std::memcpy(&one, bytes().data(), sizeof one);
    return one;
  }
  [[nodiscard]] std::vector<StepRecord> records() const {
    const auto all = bytes();
    std::vector<StepRecord> found(std::min(header().used, header().capacity));
    std::memcpy(found.data(), all.data() + kRecordsAt, found.size() * kRecordBytes);
    return found;
  }

  fs::path folder_;
};

TEST_F(StepWriting, FileIsCompleteWhileItIsWritten) {
  StepWriter writer;
  StepHeader facts{};
  facts.rank = 3;
  facts.world = 8;
  ASSERT_EQ(writer.open(path(), facts), "");
  auto one = record(10);
  one.name = writer.name("Optimizer.step#SGD.step");
  writer.add(one);
  EXPECT_EQ(header_problem(header(), bytes().size()), "");
  EXPECT_EQ(header().rank, 3);
  EXPECT_EQ(header().process, ::getpid());
  EXPECT_EQ(header().closed_ns, 0);
  ASSERT_EQ(records().size(), 1U);
  EXPECT_EQ(records()[0].end_ns, 15);
  EXPECT_STREQ(bytes().data() + kHeaderBytes, "Optimizer.step#SGD.step");
  writer.close("ValueError");
  EXPECT_GT(header().closed_ns, header().monotonic_ns);
  EXPECT_EQ(step_totals(folder_).job.at(0).exception, "ValueError");
  writer.add(record(20));
  EXPECT_EQ(records().size(), 1U);
}

TEST_F(StepWriting, NamesHaveOneSlotEachUntilTheTableIsFull) {
  StepWriter writer;
  ASSERT_EQ(writer.open(path(), {}), "");
  std::set<std::uint16_t> slots;
  for (std::size_t i = 0; i < kNameSlots; ++i) slots.insert(writer.name("scope " + std::to_string(i)));
  EXPECT_EQ(slots.size(), kNameSlots);
  EXPECT_EQ(writer.name("scope 7"), 7);
  EXPECT_EQ(writer.name("one too many"), kNoName);
  EXPECT_EQ(header().names, kNameSlots);
}

TEST_F(StepWriting, LongNamesAreCut) {
  StepWriter writer;
  ASSERT_EQ(writer.open(path(), {}), "");
  EXPECT_EQ(writer.name(std::string(300, 'x')), 0);
  EXPECT_EQ(std::string(bytes().data() + kHeaderBytes), std::string(kNameBytes - 1, 'x'));
}

TEST_F(StepWriting, GrowsByChunksAndKeepsRoomAhead) {
  StepWriter writer;
  ASSERT_EQ(writer.open(path(), {}, {.most = 64, .chunk = 16, .spare = 4}), "");
  EXPECT_EQ(header().capacity, 16U);
  for (int i = 0; i < 13; ++i) writer.add(record(i));
  EXPECT_TRUE(writer.make_room());
  EXPECT_EQ(header().capacity, 32U);
  EXPECT_EQ(bytes().size(), step_file_bytes(32));
  for (int i = 0; i < 13; ++i) EXPECT_EQ(records()[static_cast<std::size_t>(i)].begin_ns, i);
}

TEST_F(StepWriting, RecordsWithoutRoomAreCountedAndLaterOnesFollow) {
  StepWriter writer;
  ASSERT_EQ(writer.open(path(), {}, {.most = 64, .chunk = 16, .spare = 4}), "");
  for (int i = 0; i < 20; ++i) writer.add(record(i));
  EXPECT_EQ(header().lost, 4U);
  EXPECT_TRUE(writer.make_room());
  writer.add(record(99));
  EXPECT_EQ(records().back().begin_ns, 99);
  EXPECT_EQ(records().size(), 17U);
}

TEST_F(StepWriting, FullFileSaysSoInItsLastRecord) {
  for (const int more : {1, 9}) {  // one slot is left, or none
    fs::remove(path());
    StepWriter writer;
    ASSERT_EQ(writer.open(path(), {}, {.most = 16, .chunk = 16, .spare = 4}), "");
    for (int i = 0; i < 14; ++i) writer.add(record(i, StepKind::kStep));
    EXPECT_TRUE(writer.make_room());
    for (int i = 0; i < more; ++i) writer.add(record(i));
    EXPECT_FALSE(writer.make_room());
    EXPECT_FALSE(writer.is_open());
    EXPECT_EQ(records().size(), 16U);
    EXPECT_EQ(records().back().kind, static_cast<std::uint8_t>(StepKind::kOutOfRoom));
    EXPECT_GT(header().used, header().capacity) << "by which every reader knows";
    EXPECT_TRUE(step_totals(folder_).job.at(0).full);
    EXPECT_FALSE(step_totals(folder_).job.at(0).orderly);
    writer.close("ValueError");
    EXPECT_TRUE(step_totals(folder_).job.at(0).orderly);
    EXPECT_EQ(step_totals(folder_).job.at(0).exception, "ValueError");
  }
}

TEST_F(StepWriting, ThreadsLoseNothing) {
  StepWriter writer;
  ASSERT_EQ(writer.open(path(), {}), "");
  constexpr int kThreads = 4, kEach = 5000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&writer, t] {
      for (int i = 0; i < kEach; ++i) {
        auto one = record(t * kEach + i);
        one.name = writer.name("scope " + std::to_string(i % 50));
        writer.add(one);
      }
    });
  for (auto& thread : threads) thread.join();
  std::set<std::int64_t> seen;
  for (const auto& one : records()) {
    seen.insert(one.begin_ns);
    EXPECT_LT(one.name, 50);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kThreads * kEach));
  EXPECT_EQ(header().names, 50U);
}

TEST_F(StepWriting, KilledProcessLeavesItsRecords) {
  const pid_t child = ::fork();
  if (child == 0) {
    StepWriter writer;
    if (!writer.open(path(), {}).empty()) ::_exit(1);
    for (int i = 1; i <= 100; ++i) {
      auto one = record(i, StepKind::kStep);
      one.value = static_cast<std::uint64_t>(i);
      writer.add(one);
    }
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto totals = step_totals(folder_);
  ASSERT_EQ(totals.job.size(), 1U);
  EXPECT_EQ(totals.job[0].place.steps, 100U);
  EXPECT_FALSE(totals.job[0].orderly);
}

TEST_F(StepWriting, TotalsCountTheOptimizerThatSteppedMost) {
  StepWriter writer;
  ASSERT_EQ(writer.open(path(), {}), "");
  for (std::uint64_t i = 1; i <= 40; ++i) {
    auto one = record(static_cast<std::int64_t>(i), StepKind::kStep);
    one.group = i <= 5 ? 0 : 1, one.value = i <= 5 ? i : i - 5;
    writer.add(one);
  }
  writer.close();
  EXPECT_EQ(step_totals(folder_).job.at(0).place.steps, 35U);
}

TEST_F(StepWriting, TotalsHaveWhatWasLost) {
  StepWriter writer;
  ASSERT_EQ(writer.open(path(), {}), "");
  writer.lose();
  EXPECT_FALSE(step_totals(folder_).job.at(0).full);
  const auto capacity = header().capacity;
  for (std::uint64_t i = 0; i <= capacity; ++i) writer.add(record(1));  // a step that never ends
  const auto totals = step_totals(folder_).job.at(0);
  EXPECT_EQ(totals.lost, 2U);
  EXPECT_TRUE(totals.full);
  EXPECT_EQ(totals.place.started_ns, header().realtime_ns);
}

TEST_F(StepWriting, TracesTheStepsThatAnotherProcessAsksFor) {
  StepWriter writer;
  EXPECT_FALSE(writer.wants_trace(1));
  ASSERT_EQ(writer.open(path(), {}), "");
  EXPECT_FALSE(writer.wants_trace(11));
  EXPECT_EQ(newest_clock(folder_), 11U);
  ASSERT_EQ(ask_for_trace(folder_, {.number = 1, .after = 13, .steps = 2}), 1);
  std::vector<bool> wanted;
  for (std::uint64_t clock = 12; clock < 17; ++clock) wanted.push_back(writer.wants_trace(clock));
  EXPECT_EQ(wanted, (std::vector{false, true, true, false, false}));
}

// An elastic job goes on with fewer ranks; those that it lost noted no end.
TEST_F(StepWriting, LostRanksAreAskedForNoTrace) {
  StepWriter lost, first, again;
  StepHeader header{};
  header.rank_known = 1, header.world = 2;
  ASSERT_EQ(first.open((folder_ / "rank0.steps").string(), header), "");
  header.rank = 1;
  ASSERT_EQ(lost.open((folder_ / "rank1.steps").string(), header), "");
  lost.wants_trace(5000), first.wants_trace(5000);
  header.rank = 0, header.world = 1;
  ASSERT_EQ(again.open((folder_ / "rank0.2.steps").string(), header), "");
  again.wants_trace(7);
  EXPECT_EQ(newest_clock(folder_), 7U);
  EXPECT_EQ(ask_for_trace(folder_, {.number = 1, .after = 9, .steps = 2}), 1);
  EXPECT_TRUE(again.wants_trace(9));
}

TEST_F(StepWriting, ForkedChildLeavesTheFileToItsParent) {
  StepWriter writer;
  ASSERT_EQ(writer.open(path(), {}), "");
  const pid_t child = ::fork();
  if (child == 0) {
    writer.abandon();
    writer.add(record(1));
    ::_exit(writer.open(path("rank0.2.steps"), {}).empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  writer.add(record(2));
  ASSERT_EQ(records().size(), 1U);
  EXPECT_EQ(records()[0].begin_ns, 2);
  EXPECT_EQ(step_files(folder_).size(), 2U);
}

TEST_F(StepWriting, TakesASmallPartOfLimitedAddresses) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  constexpr rlim_t kShare = 64, kRecords = 1 << 20;
  const rlimit limited{kShare * kRecords * kRecordBytes, before.rlim_max};
  StepWriter writer;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limited), 0);
  const auto why = writer.open(path(), {}, {.most = 1 << 22, .chunk = 16, .spare = 4});
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  if (!why.empty()) GTEST_SKIP() << "a sanitizer has taken more addresses: " << why;
  for (int i = 0; i < 8; ++i) writer.add(record(i));
  EXPECT_DOUBLE_EQ(writer.used(), 8.0 / kRecords);
}

TEST_F(StepWriting, AFileThatCannotBeWrittenIsNotLeftBehind) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limited{1000, before.rlim_max};
  StepWriter writer;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  EXPECT_EQ(writer.open(path(), {}), path() + ": no room on the disk, or within the limit of file sizes");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(StepWriting, RefusalsSayWhy) {
  StepWriter writer;
  EXPECT_EQ(writer.open("/proc/none/rank0.steps", {}), "/proc/none/rank0.steps: No such file or directory");
  std::ofstream(path()) << "of somebody else";
  EXPECT_EQ(writer.open(path(), {}), path() + ": File exists");
  EXPECT_FALSE(writer.is_open());
  EXPECT_EQ(step_totals(folder_).unreadable.at(0).problem, "it is no step file");
}

}  // namespace
}  // namespace paceline::attach
