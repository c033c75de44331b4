// SPDX-License-Identifier: MIT
// Hand-made traces with known answers: what is read from them, who is named, and what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <random>

#include "analysis/traces/intervals.h"
#include "analysis/traces/trace_study.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "base/text.h"

namespace paceline::analysis::traces {
namespace {

// One rank of a made-up job; times in µs.
struct MadeRank {
  int rank = 0, world = 2, steps = 12, first = 3;
  double data = 500, forward = 2000, backward = 4000, optimizer = 300;
  double communication = 1000;  // until all ranks have it
  double wait = 0;              // for the others, in the same collective
  double hidden = 0;            // of the collective, beside backward
  double buffers = 0;           // until rank 0's buffers are here
  bool distributed_info = true, loader = true;
  std::string collective = "gloo:all_reduce";
  double clock = 1e6;  // where the clock of the process begins
  std::string host = "node";
  bool base = true;  // the clock counts from a known time
};

std::string event(std::string_view category, const std::string& name, int thread, double begin, double length,
                  const std::string& args = "") {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 7, "tid": {}, "ts": {:.3f}, "dur": {:.3f},
                        "args": {{"External id": 5{}}}}},)",
      category, name, thread, begin, length, args);
}

std::string step_events(const MadeRank& r, int number, double begin, double& length) {
  double at = begin + (r.loader ? r.data : 0);
  std::string text;
  if (r.loader) text += event("user_annotation", "enumerate(DataLoader)#x.__next__", 7, begin, r.data);
  if (r.buffers > 0) text += event("user_annotation", "gloo:broadcast", 9, at, r.buffers);
  at += r.buffers;
  text += event("cpu_op", "aten::linear", 7, at, r.forward);
  text += event("cpu_op", "aten::addmm", 7, at, r.forward / 2);
  at += r.forward;
  text += event("cpu_op", "autograd::engine::evaluate_function: A", 7, at, r.backward / 2);
  text += event("cpu_op", "autograd::engine::evaluate_function: B", 7, at + r.backward / 2, r.backward / 2);
  at += r.backward - r.hidden;
  if (!r.collective.empty()) text += event("user_annotation", r.collective, 9, at, r.communication + r.wait);
  at += std::max(r.hidden, r.communication + r.wait);
  text += event("user_annotation", "Optimizer.step#SGD.step", 7, at, r.optimizer);
  length = at + r.optimizer - begin;
  return text + event("user_annotation", fmt::format("ProfilerStep#{}", number), 7, begin, length);
}

std::string trace_of(const MadeRank& r) {
  std::string text = R"({"schemaVersion": 1, "deviceProperties": [],)";
  if (r.distributed_info)
    text += fmt::format(R"("distributedInfo": {{"backend": "gloo", "rank": {}, "world_size": {},
                           "pg_config": [{{"pg_size": 2, "ranks": [0, 1]}}]}},)",
                        r.rank, r.world);
  if (r.base) text += R"("baseTimeNanoseconds": 1790857026000000000,)";
  text += fmt::format(R"("host_name": "{}", "traceEvents": [)", r.host);
  double at = r.clock, length = 0;
  for (int i = 0; i < r.steps; ++i, at += length) text += step_events(r, r.first + i, at, length);
  return text +
         R"({"ph": "M", "name": "process_name", "ts": 1, "pid": "Spans", "tid": 0, "args": {"name": "x"}}]})";
}

class Traces : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    write_file_atomic(folder_.path() / name, text);
  }
  void put(const MadeRank& r) { put(fmt::format("trace_rank{}.json", r.rank), trace_of(r)); }
  [[nodiscard]] TraceStudy read() const { return read_traces(folder_.path()); }
  void expect_refused(ErrorCode code, const std::vector<std::string>& words) {
    try {
      (void)read();
      ADD_FAILURE() << "it was taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code);
      for (const auto& word : words)
        EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << word << "\n" << e.what();
    }
  }
  ScratchFolder folder_ = ScratchFolder::below_temp("traces");
};

TEST_F(Traces, ARankThatIsSlowInForwardIsNamedWithWhatItCosts) {
  put(MadeRank{.rank = 0, .wait = 3000, .clock = 9e6, .host = "another"});
  put(MadeRank{.rank = 1, .forward = 5000});
  const auto study = read();
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  EXPECT_EQ(study.job.training()->late[0].rank, 1);
  EXPECT_EQ(study.job.training()->late[0].late_in, "forward");
  EXPECT_NEAR(*study.job.training()->late[0].cost_ns, 3e6, 1e3);
  EXPECT_NEAR(*study.step_ns, 10.8e6, 1e3);
  EXPECT_NEAR(*study.job.training()->straggler_wait_share, 3.0 / 10.8, 1e-6);
  EXPECT_NEAR(*study.job.training()->communication_share, 1.0 / 10.8, 1e-6);
  EXPECT_EQ(*study.ranks[1].last_share, 1);
  ASSERT_EQ(study.bottlenecks.size(), 1U);
  const auto& first = study.bottlenecks.front();
  EXPECT_EQ(first.finding.id, "straggler");
  EXPECT_NE(first.finding.text.find("the others wait for rank 1 (host node): "), std::string::npos);
  EXPECT_NE(first.finding.evidence.find("in its forward part"), std::string::npos) << first.finding.evidence;
  EXPECT_NEAR(*first.cost_ns.value, 3e6, 1e3);
  EXPECT_NEAR(*first.share, 3.0 / 10.8, 1e-6);
}

TEST_F(Traces, AdviceNamesTheOptionsOfTheJobAndNotOurs) {
  put(MadeRank{.rank = 0, .wait = 3000});
  put(MadeRank{.rank = 1, .data = 3500});
  const auto finding = read().bottlenecks.at(0).finding;
  EXPECT_NE(finding.text.find("cause: its data loader"), std::string::npos) << finding.text;
  EXPECT_NE(finding.advice.find("Raise num_workers or prefetch_factor"), std::string::npos) << finding.advice;
}

TEST_F(Traces, CommunicationHiddenByBackwardIsNotExposed) {
  for (const int rank : {0, 1})
    put(MadeRank{.rank = rank, .data = 100, .communication = 4000, .hidden = 1000});
  const auto study = read();
  EXPECT_NEAR(*study.ranks[0].exposed_ns, 3e6, 1e3);
  EXPECT_NEAR(*study.ranks[0].communication_ns, 4e6, 1e3);
  EXPECT_NEAR(*study.ranks[0].backward_ns, 4e6, 1e3);
  EXPECT_NEAR(*study.job.training()->overlap_ratio, 0.25, 1e-6);
  EXPECT_TRUE(study.job.training()->late.empty());
  ASSERT_EQ(study.bottlenecks.size(), 1U);
  EXPECT_EQ(study.bottlenecks[0].finding.id, "exposed_communication");
  EXPECT_NEAR(*study.bottlenecks[0].cost_ns.value, 3e6, 1e3);
}

TEST_F(Traces, ASlowLoaderOnAllRanksIsInputWait) {
  for (const int rank : {0, 1}) put(MadeRank{.rank = rank, .data = 6000, .communication = 500});
  const auto study = read();
  EXPECT_NEAR(*study.job.training()->data_wait_share, 6000 / 12800.0, 1e-6);
  ASSERT_EQ(study.bottlenecks.size(), 1U);
  EXPECT_EQ(study.bottlenecks[0].finding.id, "data_bound");
}

TEST_F(Traces, ALoaderOnOneRankMakesThatRankLateInData) {
  put(MadeRank{.rank = 0, .wait = 2500});
  put(MadeRank{.rank = 1, .data = 3000});
  const auto study = read();
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  EXPECT_EQ(study.job.training()->late[0].late_in, "data");
}

TEST_F(Traces, ACleanRunNamesNoRank) {
  for (const int rank : {0, 1}) put(MadeRank{.rank = rank, .data = 100, .communication = 300});
  const auto study = read();
  EXPECT_TRUE(study.job.training()->late.empty());
  EXPECT_TRUE(study.bottlenecks.empty());
}

TEST_F(Traces, ARankThatGotItsBuffersLateIsNotLateItself) {
  put(MadeRank{.rank = 0, .wait = 3000, .buffers = 200});
  put(MadeRank{.rank = 1, .buffers = 3200});
  const auto study = read();
  EXPECT_TRUE(study.job.training()->late.empty());
  EXPECT_NEAR(*study.job.training()->straggler_wait_share, 0, 1e-9);
  EXPECT_NEAR(*study.job.training()->communication_share, 4.2 / 11.0, 1e-6);
}

TEST_F(Traces, FewStepsAreNoCertaintyAndSayHowManyAreNeeded) {
  put(MadeRank{.rank = 0, .steps = 4, .wait = 3000});
  put(MadeRank{.rank = 1, .steps = 4, .forward = 5000});
  const auto study = read();
  EXPECT_TRUE(study.job.training()->late.empty());
  EXPECT_EQ(*study.ranks[1].last_share, 1);
  ASSERT_EQ(study.job.training()->suspected.size(), 1U);
  EXPECT_EQ(study.job.training()->suspected[0].rank, 1);
  ASSERT_EQ(study.bottlenecks.size(), 1U);
  EXPECT_NE(
      study.bottlenecks[0].finding.text.find("rank 1 came last in 3 of 3 steps and caused all of the "
                                             "waiting; too few steps to be certain: time at least 13 steps"),
      std::string::npos)
      << study.bottlenecks[0].finding.text;
}

TEST_F(Traces, SelfTimeLeavesOutWhatAnOperatorCalls) {
  for (const int rank : {0, 1}) put(MadeRank{.rank = rank});
  const auto study = read();
  for (const auto& op : study.operators)
    if (op.name == "aten::linear" || op.name == "aten::addmm") {
      EXPECT_NEAR(op.host_ns, 1e6, 1e3) << op.name;
      EXPECT_EQ(op.calls, 1);
    }
}

TEST_F(Traces, OneRankIsReadAndSaysWhatIsMissing) {
  put(MadeRank{.rank = 0, .loader = false});
  const auto study = read();
  EXPECT_FALSE(study.job.training()->straggler_wait_share);
  EXPECT_FALSE(study.job.training()->data_wait_share);
  EXPECT_NEAR(*study.job.training()->communication_share, 1000 / 7300.0, 1e-6);
  EXPECT_NE(join(study.untold, "\n").find("trace of rank 0 alone, of 2;"), std::string::npos);
}

// A device runs behind its host: kernels count in the step that launched them.
TEST_F(Traces, KernelsBelongToTheStepThatLaunchedThem) {
  const auto device_trace = [](int rank, double kernel, double wait) {
    std::string text =
        fmt::format(R"({{"distributedInfo": {{"rank": {}, "world_size": 2}}, "traceEvents": [)", rank);
    for (int i = 0; i < 12; ++i) {
      const double at = 1000.0 + 10000.0 * i, on_device = at + 4000;
      const auto id = [&](int n) { return fmt::format(R"(, "correlation": {})", 10 * i + n); };
      text += event("user_annotation", fmt::format("ProfilerStep#{}", i), 7, at, 10000);
      text += event("cuda_runtime", "cudaLaunchKernel", 7, at + 10, 5, id(1));
      text += event("cpu_op", "autograd::engine::evaluate_function: A", 8, at + 100, 50);
      text += event("cuda_runtime", "cudaLaunchKernel", 8, at + 110, 5, id(2));
      text += event("cuda_runtime", "cudaLaunchKernel", 8, at + 120, 5, id(3));
      text += event("kernel", "gemm", 20, on_device, kernel, id(1));
      text += event("kernel", "gemm_backward", 20, on_device + kernel, 2000, id(2));
      text += event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 21, on_device + kernel + 1500,
                    1000 + wait, id(3));
    }
    return text.substr(0, text.size() - 1) + "]}";
  };
  put("a_rank0.json", device_trace(0, 3000, 4000));
  put("a_rank1.json", device_trace(1, 7000, 0));
  const auto study = read();
  EXPECT_TRUE(study.operators_on_device);
  EXPECT_NEAR(*study.ranks[0].forward_ns, 3e6, 1e3);
  EXPECT_NEAR(*study.ranks[0].backward_ns, 2e6, 1e3);
  EXPECT_NEAR(*study.ranks[0].exposed_ns, 4.5e6, 1e3);
  EXPECT_NEAR(*study.ranks[1].overlap_ratio, 0.5, 1e-6);
  EXPECT_NEAR(*study.ranks[1].idle_share, 0.05, 0.02);
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  EXPECT_EQ(study.job.training()->late[0].rank, 1);
  EXPECT_EQ(study.job.training()->late[0].late_in, "forward");
}

TEST_F(Traces, NcclWithoutItsKernelsIsUnknownAndNotZero) {
  for (const int rank : {0, 1}) put(MadeRank{.rank = rank, .collective = "nccl:all_reduce"});
  const auto study = read();
  EXPECT_FALSE(shape_of(study.job).stall_share);
  EXPECT_FALSE(study.ranks[0].communication_ns);
  EXPECT_NE(shape_of(study.job).stall_share.reason().find("not the kernels on the device"),
            std::string::npos);
}

TEST_F(Traces, PackedTracesAreRead) {
  const std::string text = trace_of({.rank = 0, .world = 1, .collective = ""});
  gzFile out = gzopen((folder_.path() / "trace.json.gz").c_str(), "wb");
  ASSERT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  gzclose(out);
  EXPECT_EQ(read().steps, 11);
  const auto packed = read_file(folder_.path() / "trace.json.gz");
  put("trace.json.gz", packed.substr(0, packed.size() / 2));
  expect_refused(ErrorCode::kData, {"trace.json.gz ends too early, at byte "});
}

TEST_F(Traces, RefusesAFolderWithoutTraces) {
  EXPECT_THROW((void)read_traces(folder_.path() / "nowhere"), Error);
  expect_refused(ErrorCode::kUsage, {"there is no trace in it", "export_chrome_trace"});
  put("result.json", R"({"schema_version": "1.0"})");
  expect_refused(ErrorCode::kUsage, {"there is no trace in it"});
}

TEST_F(Traces, RefusesTruncatedFilesAndOtherThanJson) {
  const auto whole = trace_of({.rank = 0});
  for (const double share : {0.0, 0.3, 0.99}) {
    const auto size = static_cast<std::size_t>(share * static_cast<double>(whole.size()));
    put("trace_rank0.json", whole.substr(0, size));
    expect_refused(ErrorCode::kData, {"trace_rank0.json ends too early, at byte ", std::to_string(size)});
  }
  put("trace_rank0.json", "<html>");
  expect_refused(ErrorCode::kData, {"trace_rank0.json is not JSON: byte 1 "});
}

TEST_F(Traces, RefusesTracesOfDifferentRunsAndRanks) {
  put(MadeRank{.rank = 0});
  put("other.json", trace_of({.rank = 0}));
  expect_refused(ErrorCode::kData, {"other.json and trace_rank0.json are both of rank 0"});
  put("other.json", trace_of({.rank = 1, .world = 4}));
  expect_refused(ErrorCode::kData, {"4 ranks", "2 ranks", "different runs"});
  put("other.json", trace_of({.rank = 1, .first = 100}));
  expect_refused(ErrorCode::kData, {"steps 3 to 14", "steps 100 to 111", "different runs"});
  put("other.json", trace_of({.rank = 1, .steps = 10}));
  expect_refused(ErrorCode::kData, {"rank 1 lacks steps 13, 14"});
}

TEST_F(Traces, RefusesStepsThatDoNotOverlapInTime) {
  put(MadeRank{.rank = 0});
  put(MadeRank{.rank = 1, .clock = 9e6});
  expect_refused(ErrorCode::kData, {"the steps in trace_rank0.json end 7.9",
                                    " s before those in trace_rank1.json", "different runs"});
  put(MadeRank{.rank = 1, .clock = 9e6, .host = "another"});  // its clock may be wrong by eight seconds
  EXPECT_EQ(read().ranks.size(), 2U);
  put(MadeRank{.rank = 1, .clock = 400e6, .host = "another"});  // or by minutes
  EXPECT_EQ(read().ranks.size(), 2U);
  put(MadeRank{.rank = 1, .clock = 90e6, .base = false});
  EXPECT_EQ(read().ranks.size(), 2U);
}

// Written by torch.profiler of PyTorch 2.15 (tests/data/traces/record.py): rank 1 of two slept 20 ms a step.
TEST_F(Traces, RealTracesNameTheRankThatSlept) {
  for (const std::string name : {"job_rank0.json.gz", "job_rank1.json.gz"})
    put(name, read_file(std::filesystem::path(TEST_DATA "/traces") / name));
  const auto study = read();
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  EXPECT_EQ(study.job.training()->late[0].rank, 1);
  EXPECT_NEAR(*study.job.training()->late[0].cost_ns, 20e6, 2e6);
  put("job_rank1.json.gz", read_file(std::filesystem::path(TEST_DATA "/traces") / "later_rank1.json.gz"));
  expect_refused(ErrorCode::kData, {"job_rank0.json.gz end ", " before those in job_rank1.json.gz begin"});
}

// Traces with --batch-norm: rank 1 computes for 20 ms before the buffers are sent.
TEST_F(Traces, RealTracesWithABatchNormNameTheRankThatComputedMore) {
  for (const std::string name : {"batch_norm_rank0.json.gz", "batch_norm_rank1.json.gz"})
    put(name, read_file(std::filesystem::path(TEST_DATA "/traces") / name));
  const auto study = read();
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  EXPECT_EQ(study.job.training()->late[0].rank, 1);
  EXPECT_LT(*study.job.training()->communication_share, 0.2);
  EXPECT_GT(*study.job.training()->straggler_wait_share, 0.3);
}

TEST_F(Traces, SomeRanksOfManyAreJudgedAmongThemselves) {
  put(MadeRank{.rank = 0, .world = 4, .wait = 3000});
  put(MadeRank{.rank = 2, .world = 4, .forward = 5000});
  const auto study = read();
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  EXPECT_EQ(study.job.training()->late[0].rank, 2);
  EXPECT_NE(join(study.untold, "\n").find("the other 2 ranks: late ranks are judged among these 2 of 4"),
            std::string::npos);
}

TEST_F(Traces, RefusesSeveralRanksWithoutCommunication) {
  put(MadeRank{.rank = 0});
  put(MadeRank{.rank = 1, .collective = ""});
  expect_refused(ErrorCode::kData, {"no communication in the trace of rank 1", "ProfilerActivity"});
}

TEST_F(Traces, RefusesTracesWithoutSteps) {
  put("trace_rank0.json", R"({"traceEvents": []})");
  expect_refused(ErrorCode::kData, {"has no steps", "torch.profiler.schedule", "prof.step()"});
}

TEST_F(Traces, TheRankIsInTheNameWhereTheTraceDoesNotHaveIt) {
  put("job.0.json", trace_of({.rank = 0, .wait = 3000, .distributed_info = false}));
  put("job.1.json", trace_of({.rank = 1, .forward = 5000, .distributed_info = false}));
  EXPECT_EQ(read().job.training()->late.at(0).rank, 1);
  put("another.json", trace_of({.distributed_info = false}));
  expect_refused(ErrorCode::kData, {"another.json does not say which rank"});
}

// Random sets against a raster of single ns.
TEST(TraceIntervals, AgreeWithARaster) {
  std::mt19937 random(7);
  const auto draw = [&] {
    Intervals any;
    for (int i = 0; i < 12; ++i) {
      const std::int64_t begin = static_cast<std::int64_t>(random() % 100);
      any.push_back({begin, begin + static_cast<std::int64_t>(random() % 15)});
    }
    return any;
  };
  const auto in = [](const Intervals& all, std::int64_t t) {
    return std::ranges::any_of(all, [t](const Interval& i) { return i.begin <= t && t < i.end; });
  };
  for (int round = 0; round < 200; ++round) {
    const Intervals a = draw(), b = draw();
    const Intervals rest = without(merged(a), merged(b));
    std::int64_t count = 0;
    for (std::int64_t t = 0; t < 130; ++t) {
      const bool left = in(a, t) && !in(b, t);
      count += left ? 1 : 0;
      ASSERT_EQ(in(rest, t), left);
      ASSERT_EQ(contains(merged(a), t), in(a, t));
    }
    ASSERT_EQ(length(rest), count);
  }
}

}  // namespace
}  // namespace paceline::analysis::traces
