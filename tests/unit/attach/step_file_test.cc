// SPDX-License-Identifier: MIT
// Step files as a process leaves them: whole, killed, full, and damaged in every field.
#include "attach/step_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <functional>

#include "attach/running.h"
#include "attach/step_header.h"
#include "attach/trace_wish.h"
#include "base/error.h"
#include "base/random.h"
#include "base/scratch_folder.h"
#include "support/made_step_file.h"

namespace paceline::attach {
namespace {

using ::testing::HasSubstr;
using testing::MadeStepFile;

constexpr std::int64_t kStart = MadeStepFile::kStart_ns;

MadeStepFile small_file() {
  MadeStepFile made(1, 2);
  made.scope("Optimizer.step#SGD.step", kStart + 300, kStart + 400);
  made.stepped(kStart + 400);
  made.backward(kStart + 100, kStart + 200);
  return made;
}

class StepFiles : public ::testing::Test {
 protected:
  StepFile read(const std::string& bytes) {
    const auto path = folder_.path() / "rank1.steps";
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return read_step_file(path, "rank1.steps");
  }
  std::string refusal(const std::string& bytes) {
    try {
      (void)read(bytes);
      ADD_FAILURE() << "it was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData);
      EXPECT_THAT(error.what(), HasSubstr("rank1.steps"));
      return error.what();
    }
    return {};
  }
  ScratchFolder folder_ = ScratchFolder::below_temp("steps");
};

TEST_F(StepFiles, RecordsComeByTheirBeginAndNamesWithThem) {
  const auto file = read(small_file().bytes());
  ASSERT_EQ(file.records.size(), 3U);
  EXPECT_EQ(file.header.rank, 1);
  EXPECT_EQ(file.host, "node");
  EXPECT_EQ(file.records[0].kind, static_cast<std::uint8_t>(StepKind::kBackward));
  EXPECT_EQ(file.name_of(file.records[0]), "");
  EXPECT_EQ(file.name_of(file.records[1]), "Optimizer.step#SGD.step");
  EXPECT_EQ(file.records[2].value, 1U);
  EXPECT_EQ(file.damaged + file.unfinished, 0);
}

TEST_F(StepFiles, AKilledProcessLosesWhatWasOpenAndNothingElse) {
  auto made = small_file();
  made.records.insert(made.records.begin() + 1, StepRecord{});
  made.header.capacity = 1000;  // the room that was left
  const auto file = read(made.bytes());
  EXPECT_EQ(file.records.size(), 3U);
  EXPECT_EQ(file.unfinished, 1);
  EXPECT_FALSE(file.full);
}

TEST_F(StepFiles, AProcessThatWritesItsFileIsRunning) {
  const auto now_ns = [](clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  };
  StepHeader header{};
  ::gethostname(header.host, sizeof header.host - 1);
  header.process = ::getpid();
  header.realtime_ns = now_ns(CLOCK_REALTIME), header.monotonic_ns = now_ns(CLOCK_MONOTONIC);
  EXPECT_TRUE(is_running(header));
  auto closed = header, elsewhere = header, before_boot = header, reused = header;
  closed.closed_ns = header.monotonic_ns;
  elsewhere.host[0] = '?';
  before_boot.realtime_ns -= 3'600'000'000'000;
  reused.realtime_ns -= 600'000'000'000, reused.monotonic_ns -= 600'000'000'000;
  for (const auto& ended : {closed, elsewhere, before_boot, reused}) EXPECT_FALSE(is_running(ended));
}

TEST_F(StepFiles, AFullFileSaysSo) {
  auto made = small_file();
  made.header.used = 5;
  made.header.capacity = 3;
  EXPECT_TRUE(read(made.bytes()).full);
}

TEST_F(StepFiles, RecordsThatCannotBeAreCountedAndLeftOut) {
  const std::vector<std::function<void(StepRecord&)>> damages{
      [](auto& r) { r.end_ns = r.begin_ns - 1; },
      [](auto& r) { r.begin_ns = -5; },
      [](auto& r) { r.end_ns = 9'000'000'000'000'000'000; },
      [](auto& r) { r.begin_ns += 2 * kLongestJob_ns, r.end_ns += 2 * kLongestJob_ns; },
      [](auto& r) { r.kind = 200; },
      [](auto& r) { r.name = 7; },
      [](auto& r) { r.kind = static_cast<std::uint8_t>(StepKind::kDevice), r.value = ~std::uint64_t{0}; }};
  for (const auto& damage : damages) {
    auto made = small_file();
    damage(made.records[0]);
    const auto file = read(made.bytes());
    EXPECT_EQ(file.damaged, 1);
    EXPECT_EQ(file.records.size(), 2U);
  }
}

TEST_F(StepFiles, AHeaderThatCannotBeIsRefusedWithWhatIsWrong) {
  struct Damage {
    std::function<void(StepHeader&)> change;
    const char* words;
  };
  const std::vector<Damage> damages{{[](auto& h) { h.magic[0] = 'X'; }, "no step file"},
                                    {[](auto& h) { h.version = 99; }, "version 99"},
                                    {[](auto& h) { h.record_bytes = 48; }, "damaged"},
                                    {[](auto& h) { h.names = 100'000; }, "damaged"},
                                    {[](auto& h) { h.rank = 2; }, "rank 2 of 2"},
                                    {[](auto& h) { h.world = 0; }, "rank 1 of 0"},
                                    {[](auto& h) { h.monotonic_ns = -1; }, "clocks"},
                                    {[](auto& h) { h.realtime_ns = 9'000'000'000'000'000'000; }, "clocks"}};
  for (const auto& damage : damages) {
    auto made = small_file();
    damage.change(made.header);
    EXPECT_THAT(refusal(made.bytes()), HasSubstr(damage.words));
  }
}

TEST_F(StepFiles, MoreRecordsThanTheFileHasAreCutShort) {
  auto bytes = small_file().bytes();
  bytes.resize(bytes.size() - 1);
  EXPECT_THAT(refusal(bytes), HasSubstr("cut short"));
  const std::uint64_t many = ~std::uint64_t{0};
  auto lying = small_file().bytes();
  std::memcpy(lying.data() + offsetof(StepHeader, capacity), &many, sizeof many);
  EXPECT_THAT(refusal(lying), HasSubstr("cut short"));
  EXPECT_THAT(refusal(bytes.substr(0, 100)), HasSubstr("cut off"));
  EXPECT_THAT(refusal(""), HasSubstr("cut off"));
}

TEST_F(StepFiles, NamesWithoutAnEndStayInTheirSlots) {
  MadeStepFile made(0, 1);
  made.scope(std::string(200, 'x'), kStart + 1, kStart + 2);
  made.scope(std::string(kNameBytes - 1, 'y') + "\xC3\xA9", kStart + 3, kStart + 4);  // a letter that is cut
  const auto file = read(made.bytes());
  EXPECT_EQ(file.names[0], std::string(kNameBytes, 'x'));
  EXPECT_EQ(file.names[1], std::string(kNameBytes - 1, 'y'));
}

// Any change of any byte is read or refused in words, and what is read keeps its promises.
TEST_F(StepFiles, ChangedBytesNeverBreakTheReader) {
  const auto whole = small_file().bytes();
  const CounterRng random(1, 1);
  for (std::uint64_t i = 0; i < 150; ++i) {
    auto bytes = whole;
    const std::size_t areas[] = {sizeof(StepHeader), bytes.size()};
    const auto at = static_cast<std::size_t>(random.below(2 * i, areas[i % 2]));
    bytes[at] = static_cast<char>(random.below(2 * i + 1, 256));
    try {
      const auto file = read(bytes);
      for (const auto& record : file.records) EXPECT_LE(record.begin_ns, record.end_ns);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData);
    }
  }
}

TEST_F(StepFiles, TheNewestBeginAtTheEndOfAStep) {
  for (const int scopes : {1, 300}) {  // many scopes need more records for as many steps
    MadeStepFile made(1, 2);
    constexpr std::int64_t kStep = 1000;
    for (int i = 0; i < 200; ++i) {
      for (int k = 0; k < scopes; ++k) made.scope("x", kStart + kStep * i + k, kStart + kStep * i + k + 1);
      made.stepped(kStart + kStep * i + 900);
    }
    const auto path = folder_.path() / "rank1.steps";
    made.save(path);
    const auto newest = newest_steps(path, 50);
    ASSERT_EQ(newest.records.size(), 50U * (static_cast<std::size_t>(scopes) + 1) + 1);
    EXPECT_EQ(newest.records.front().value, 150U);
    EXPECT_EQ(newest.records.back().value, 200U);
    const auto all = newest_steps(path, 1000);
    EXPECT_EQ(all.records.size(), scopes == 1 ? 400U : 60'200U);
    EXPECT_EQ(all.records.back().value, 200U);
  }
}

TEST_F(StepFiles, ARequestForATraceIsInTheHeadersOfAllRanks) {
  EXPECT_EQ(newest_clock(folder_.path()), 0U);
  EXPECT_EQ(ask_for_trace(folder_.path(), {.number = 2, .after = 7, .steps = 3}), 0);
  const auto save = [&](const char* name, std::int64_t rank, std::uint64_t clock, std::int64_t started_ns) {
    auto made = small_file();
    made.header.rank = rank, made.header.clock = clock, made.header.realtime_ns += started_ns;
    made.save(folder_.path() / name);
  };
  save("rank0.steps", 0, 1500, 0), save("rank0.2.steps", 0, 40, 1), save("rank1.steps", 1, 41, 0);
  EXPECT_EQ(newest_clock(folder_.path()), 41U);  // the first start of rank 0 counts no more
  EXPECT_EQ(ask_for_trace(folder_.path(), {.number = 2, .after = 44, .steps = 3}), 2);
  for (const auto& path : step_files(folder_.path())) {
    const auto header = read_step_file(path, "a file").header;
    const bool asked = path.filename() != "rank0.steps";
    EXPECT_EQ(header.trace_after, asked ? 44U : 0U);
    EXPECT_EQ(header.trace_steps, asked ? 3U : 0U);
    EXPECT_EQ(header.trace_number, asked ? 2U : 0U);
  }
}

}  // namespace
}  // namespace paceline::attach
