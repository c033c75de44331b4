// SPDX-License-Identifier: MIT
// Exports of Nsight Systems, made with its tables, and what is said about the time between kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>

#include "answer/render/answer_forms.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "nsight/timeline.h"

namespace paceline::nsight {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Nsys : public ::testing::Test {
 protected:
  void run(const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(::sqlite3_open(file_.c_str(), &database), SQLITE_OK);
    char* problem = nullptr;
    ::sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &problem);
    ASSERT_EQ(problem, nullptr) << problem;
    ::sqlite3_close(database);
  }
  void kernels(const std::string& rows) {
    run("CREATE TABLE IF NOT EXISTS StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, "
        "'gemm'), "
        "(2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (demangledName INTEGER, start INTEGER, end INTEGER, "
        "deviceId INTEGER, "
        "streamId INTEGER, correlationId INTEGER, gridX INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL "
        "VALUES " +
        rows);
  }
  void copies(const std::string& rows) {
    run("CREATE TABLE IF NOT EXISTS StringIds (id INTEGER, value TEXT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
        "INTEGER, correlationId "
        "INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER); INSERT INTO "
        "CUPTI_ACTIVITY_KIND_MEMCPY VALUES " +
        rows);
  }
  void calls(const std::string& rows) {
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId INTEGER, nameId "
        "INTEGER); "
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES " +
        rows);
  }
  [[nodiscard]] TimelineStudy study() const { return study_timeline(read_nsys_file(file_), "t.sqlite"); }
  [[nodiscard]] std::vector<std::string> sentences() const {
    std::vector<std::string> texts;
    for (const auto& f : study().findings) texts.push_back(f.text);
    return texts;
  }

  ScratchFolder folder_ = ScratchFolder::below_temp("nsys-test");
  std::filesystem::path file_ = folder_.path() / "t.sqlite";
};

// Idle from 100 to 300 us; the host waited in one call, launched in another, and did something else between.
TEST_F(Nsys, NamesTheHostsCallsInThatTime) {
  kernels("(1, 0, 100000, 0, 7, 1, 1), (1, 300000, 400000, 0, 7, 2, 1)");
  run("INSERT INTO StringIds VALUES (20, 'cudaStreamSynchronize_v3020'), (21, 'cudaLaunchKernel_v7000')");
  calls("(0, 100, 1, 21), (50000, 220000, 9, 20), (270000, 300000, 2, 21)");
  const auto device = study().devices.at(0);
  EXPECT_DOUBLE_EQ(device.late_host_ns, 200000);
  const auto called = [](const char* call, double ns) {
    return AllOf(Field(&HostCall::call, call), Field(&HostCall::ns, ns));
  };
  EXPECT_THAT(device.late_in, ElementsAre(called("cudaStreamSynchronize", 120000.0), called("", 50000.0),
                                          called("cudaLaunchKernel", 30000.0)));
  const auto finding = study().findings.at(0);
  EXPECT_THAT(finding.evidence,
              HasSubstr("the host was in cudaStreamSynchronize in 60 % of that time, outside of "
                        "CUDA's calls in 25 %, in cudaLaunchKernel in 15 %"));
  EXPECT_THAT(finding.advice, HasSubstr("fewer waits for the device"));
}

// Two steps; the kernels of the first were asked for in its forward part, that of the second in none.
TEST_F(Nsys, RangesOfNvtxHaveTheTimeOfTheWorkThatWasAskedForWithin) {
  kernels("(1, 1000, 3000, 0, 7, 1, 1), (1, 2000, 4000, 0, 8, 2, 1), (1, 9000, 9500, 0, 7, 3, 1)");
  calls("(100, 200, 1, 1), (300, 400, 2, 1), (5300, 5400, 3, 1)");
  run("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, "
      "globalTid "
      "INTEGER); INSERT INTO StringIds VALUES (9, 'forward'); INSERT INTO NVTX_EVENTS VALUES "
      "(0, 1000, 60, 'step', NULL, 0), (50, 500, 60, NULL, 9, 0), (5000, 6000, 60, 'step', NULL, 0), "
      "(7, NULL, 34, 'a mark', NULL, 0), (9, 8, 60, 'ends first', NULL, 0)");
  const auto ranges = study().ranges;
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].name, "step");
  EXPECT_EQ(ranges[0].ranges, 2U);
  EXPECT_DOUBLE_EQ(ranges[0].host_ns, 2000);
  EXPECT_DOUBLE_EQ(ranges[0].device_ns, 3500);  // two kernels at once count once
  EXPECT_EQ(ranges[1].name, "forward");
  EXPECT_DOUBLE_EQ(ranges[1].device_ns, 3000);
  EXPECT_THAT(answer::terminal_of(answer_of(study()), {}),
              HasSubstr("range    times  host, one  GPU, one\nstep         2    1.00 µs   1.75 µs\n"));
}

TEST_F(Nsys, AColumnThatIsComputedIsRefused) {
  kernels("(1, 0, 100000, 0, 7, 1, 1)");
  run("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT AS (hex(zeroblob(start * 1000000))))");
  EXPECT_THAT([&] { (void)study(); },
              ::testing::ThrowsMessage<Error>(HasSubstr("column text of NVTX_EVENTS is computed")));
}

TEST_F(Nsys, ATableOfAnExtensionIsNoTable) {
  kernels("(1, 0, 100000, 0, 7, 1, 1)");
  run("CREATE TABLE t (start INTEGER); PRAGMA writable_schema = 1; INSERT INTO sqlite_master VALUES "
      "('table', 'NVTX_EVENTS', 'NVTX_EVENTS', 0, 'CREATE VIRTUAL TABLE NVTX_EVENTS USING fts5(start)')");
  EXPECT_EQ(study().devices.size(), 1U);
}

// 300 ranges of one name around 20,000 kernels: 6 million visits where each range looks at all of them.
TEST_F(Nsys, RangesThatOverlapLookAtWorkOnce) {
  kernels("(1, 0, 10, 0, 7, 0, 1)");
  calls("(0, 1, 0, 1)");
  run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO "
      "CUPTI_ACTIVITY_KIND_KERNEL SELECT 1, 100 * i, 100 * i + 50, 0, 7, i, 1 FROM n;"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO "
      "CUPTI_ACTIVITY_KIND_RUNTIME SELECT 100 * i - 60, 100 * i - 50, i, 1 FROM n;"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO NVTX_EVENTS "
      "SELECT i, 3000000 - i, 'step' FROM n");
  const auto ranges = study().ranges;
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].ranges, 300U);
  EXPECT_DOUBLE_EQ(ranges[0].device_ns, 10 + 20000 * 50);
}

TEST_F(Nsys, MoreDevicesThanAMachineHasAreRefused) {
  kernels("(1, 0, 100, 0, 7, 1, 1)");
  run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO "
      "CUPTI_ACTIVITY_KIND_KERNEL SELECT 1, 0, 100, i, 7, i, 1 FROM n");
  EXPECT_THAT(
      [&] { (void)study(); },
      ::testing::ThrowsMessage<Error>(HasSubstr("it has 2001 devices of processes; at most 1024 are read")));
}

TEST_F(Nsys, BusyTimeCountsOverlappingWorkOnce) {
  kernels("(1, 0, 100000, 0, 7, 1, 1), (1, 50000, 150000, 0, 8, 2, 1), (1, 300000, 400000, 0, 7, 3, 1)");
  const auto found = study();
  ASSERT_EQ(found.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(found.devices[0].span_ns, 400000);
  EXPECT_DOUBLE_EQ(found.devices[0].busy_ns, 250000);
  EXPECT_DOUBLE_EQ(found.devices[0].late_host_ns, 0);  // no calls were traced: nobody is blamed
  EXPECT_EQ(found.kernels[0].launches, 3U);
}

TEST_F(Nsys, IdleTimeIsTheHostsUntilItsCallHasReturned) {
  kernels("(1, 0, 100000, 0, 7, 1, 1), (1, 200000, 300000, 0, 7, 2, 1), (1, 400000, 500000, 0, 7, 3, 1)");
  calls("(0, 10, 1, 0), (150000, 180000, 2, 0), (20, 30, 3, 0)");
  EXPECT_DOUBLE_EQ(study().devices[0].late_host_ns, 80000);  // not the second gap: that call was early
  EXPECT_THAT(sentences(), ElementsAre("device 0 waits for the host in 16 % of the time"));
}

TEST_F(Nsys, CopiesFromPageableMemoryAreNamed) {
  kernels("(1, 0, 100000, 0, 7, 1, 1)");
  copies("(100000, 200000, 0, 7, 2, 1000000, 1, 0, 2), (200000, 210000, 0, 7, 3, 1000, 2, 2, 1)");
  const auto found = study();
  ASSERT_EQ(found.copies.size(), 2U);
  EXPECT_DOUBLE_EQ(found.copies[0].pageable_bytes, 1000000);
  EXPECT_DOUBLE_EQ(found.copies[1].pageable_bytes, 0);
  EXPECT_THAT(sentences(), ElementsAre("copies host to device use memory that is not pinned"));
}

TEST_F(Nsys, PinnedCopiesAreNamedOnlyWhereNoKernelHidesThem) {
  kernels("(1, 0, 100000, 0, 7, 1, 1), (1, 200000, 300000, 0, 7, 4, 1)");
  copies("(100000, 200000, 0, 8, 2, 1000000, 1, 1, 2)");
  EXPECT_THAT(sentences(), ElementsAre("copies host to device are not hidden behind kernels"));
  run("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 300000");
  EXPECT_DOUBLE_EQ(study().copies[0].hidden_ns, 100000);
  EXPECT_THAT(sentences(), IsEmpty());
}

TEST_F(Nsys, CommunicationThatNothingHidesIsNamed) {
  kernels("(1, 0, 100000, 0, 7, 1, 1), (2, 50000, 200000, 0, 9, 2, 1)");
  const auto found = study();
  EXPECT_EQ(found.devices[0].nccl_kernels, 1U);
  EXPECT_DOUBLE_EQ(found.devices[0].nccl_hidden_ns, 50000);
  EXPECT_THAT(sentences(), ElementsAre("device 0: 50 % of the time is communication that no kernel hides"));
}

TEST_F(Nsys, GraphsTracedAsAWholeAreWorkAndAreRemarkedUpon) {
  run("CREATE TABLE StringIds (id INTEGER, value TEXT); CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start "
      "INTEGER, end INTEGER, "
      "deviceId INTEGER, streamId INTEGER, correlationId INTEGER); INSERT INTO "
      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (0, 90, 0, 7, 1)");
  EXPECT_DOUBLE_EQ(study().devices[0].kernels_ns, 90);
  EXPECT_THAT(study().remarks, Contains(HasSubstr("--cuda-graph-trace=node")));
}

TEST_F(Nsys, CallsOfOneProcessDoNotAskForTheWorkOfAnother) {
  run("CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, 'gemm');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
      "INTEGER, correlationId "
      "INTEGER, demangledName INTEGER, globalPid INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 100000, 0, 7, 1, 1, 71 * 0x1000000), (200000, "
      "300000, 0, 7, 2, 1, 71 * "
      "0x1000000), (0, 300000, 0, 7, 2, 1, 72 * 0x1000000);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId INTEGER, "
      "globalTid INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 10, 1, 71 * 0x1000000 + 71), (10, 20, 2, 71 * "
      "0x1000000 + 71), (0, "
      "190000, 2, 72 * 0x1000000 + 99)");
  const auto found = study();
  ASSERT_EQ(found.devices.size(), 2U);
  EXPECT_EQ(name_of(found.devices[0]), "device 0 of process 71");
  EXPECT_DOUBLE_EQ(found.devices[0].late_host_ns, 0);
  EXPECT_DOUBLE_EQ(found.devices[0].busy_ns, 200000);
  EXPECT_DOUBLE_EQ(found.devices[1].busy_ns, 300000);
}

TEST_F(Nsys, CopiesThatOverlapCountOnceAndGraphsHideThem) {
  copies(
      "(0, 100000, 0, 7, 1, 4, 1, 1, 2), (0, 100000, 0, 8, 2, 4, 1, 1, 2), (50000, 150000, 0, 9, 3, 4, 1, 1, "
      "2)");
  run("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
      "INTEGER, "
      "correlationId INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (0, 150000, 0, 10, 4)");
  const auto found = study();
  EXPECT_DOUBLE_EQ(found.copies[0].time_ns, 150000);
  EXPECT_DOUBLE_EQ(found.copies[0].hidden_ns, 150000);
  EXPECT_THAT(sentences(), IsEmpty());
}

TEST_F(Nsys, FillingMemoryIsWorkAndEmptyIntervalsAreNot) {
  kernels("(1, 5, 5, 0, 7, 1, 1), (1, 0, 100, 1, 7, 2, 1)");
  run("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
      "INTEGER, correlationId "
      "INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (100, 150, 1, 7, 3)");
  const auto found = study();
  ASSERT_EQ(found.devices.size(), 1U);
  EXPECT_DOUBLE_EQ(found.devices[0].busy_ns, 150);
  EXPECT_DOUBLE_EQ(found.devices[0].kernels_ns, 100);
  EXPECT_FALSE(answer::terminal_of(answer_of(found), {}).empty());
}

TEST_F(Nsys, TimesThatCannotBeAreLeftOut) {
  kernels(
      "(1, 0, 100, 0, 7, 1, 1), (1, 300, 200, 0, 7, 2, 1), (1, -9223372036854775807, 9223372036854775807, 0, "
      "7, 3, 1)");
  EXPECT_DOUBLE_EQ(study().devices[0].span_ns, 100);
  EXPECT_THAT(study().remarks, ElementsAre("2 rows with a time or a size that cannot be: left out"));
  run("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start");
  EXPECT_THROW((void)study(), Error);
}

TEST_F(Nsys, OtherAndDamagedFilesAreRefused) {
  EXPECT_THROW((void)study(), Error);  // absent
  run("CREATE TABLE other (a INTEGER)");
  EXPECT_THROW((void)study(), Error);
  run("CREATE TABLE StringIds (id INTEGER, value TEXT)");
  EXPECT_THROW((void)study(), Error);  // nothing of a GPU
  kernels("(1, 0, 100000, 0, 7, 1, 1)");
  EXPECT_EQ(study().devices.size(), 1U);
  std::filesystem::resize_file(file_, 5000);
  EXPECT_THROW((void)study(), Error);
  std::ofstream(file_) << "no database at all, but text that is long enough";
  EXPECT_THROW((void)study(), Error);
}

TEST_F(Nsys, AnExportWithoutAColumnSaysWhichIsMissing) {
  run("CREATE TABLE StringIds (id INTEGER, value TEXT); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start "
      "INTEGER, end INTEGER)");
  try {
    (void)study();
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("deviceId"));
  }
}

}  // namespace
}  // namespace paceline::nsight
