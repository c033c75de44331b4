// SPDX-License-Identifier: MIT
// Who waits for whom in exchanges of every kind, and which kernels and calls are exchanges at all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "analysis/traces/call_kind.h"
#include "analysis/traces/trace_study.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "base/text.h"

namespace paceline::analysis::traces {
namespace {

std::string scope(std::string_view category, const std::string& name, int thread, double begin_ms, double ms,
                  const std::string& args = "") {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}},)",
      category, name, thread, 1e3 * begin_ms, 1e3 * ms, args);
}

// Ranks that work and exchange in turns, on one clock: the made trace of each.
class MadeJob {
 public:
  explicit MadeJob(std::size_t ranks) : now_(ranks), text_(ranks) {}

  void step() {
    for (std::size_t r = 0; r < now_.size(); ++r) close_step(r), begin_[r] = now_[r];
    ++steps_;
  }
  void work(std::size_t rank, double ms, const std::string& name = "aten::mm") {
    text_[rank] += scope("cpu_op", name, 1, now_[rank], ms);
    now_[rank] += ms;
  }
  void all_work(double ms, const std::string& name = "aten::mm") {
    for (std::size_t r = 0; r < now_.size(); ++r) work(r, ms, name);
  }
  // Ends on all ranks `ms` after the last one came.
  void together(double ms, const std::string& name = "gloo:all_reduce") {
    const double end = *std::ranges::max_element(now_) + ms;
    for (std::size_t r = 0; r < now_.size(); ++r) {
      text_[r] += scope("user_annotation", name, 3, now_[r], end - now_[r]);
      now_[r] = end;
    }
  }
  // Rank 0 sends: it leaves when its receivers have come, or at once.
  void broadcast(double ms, bool waits) {
    const double begun = now_[0], all = *std::ranges::max_element(now_);
    for (std::size_t r = 0; r < now_.size(); ++r) {
      const double end = std::max(now_[r], waits ? all : begun) + ms;
      text_[r] += scope("user_annotation", "gloo:broadcast", 3, now_[r], end - now_[r]);
      now_[r] = end;
    }
  }
  TraceStudy read() {
    step();
    const auto folder = ScratchFolder::below_temp("exchanges");
    for (std::size_t r = 0; r < now_.size(); ++r) {
      text_[r].pop_back();
      std::ofstream(folder.path() / fmt::format("rank{}.json", r))
          << fmt::format(R"({{"distributedInfo":{{"rank":{},"world_size":{}}},"traceEvents":[{}]}})", r,
                         now_.size(), text_[r]);
    }
    return read_traces(folder.path());
  }
  std::vector<double> now_;
  std::vector<std::string> text_;

 private:
  void close_step(std::size_t r) {
    if (steps_ > 0)
      text_[r] +=
          scope("user_annotation", fmt::format("ProfilerStep#{}", steps_), 1, begin_[r], now_[r] - begin_[r]);
  }
  std::map<std::size_t, double> begin_;
  int steps_ = 0;
};

void backward(MadeJob& job, double ms) {
  job.all_work(ms, "autograd::engine::evaluate_function: A");
}

void expect_late(const TraceStudy& study, std::int64_t rank, double late_ms, double communication_ms) {
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  const auto& late = study.job.training()->late[0];
  EXPECT_EQ(late.rank, rank);
  EXPECT_NEAR(*late.late_ns, late_ms * 1e6, 0.5e6);
  EXPECT_NEAR(*study.costs.communication_ns.value, communication_ms * 1e6, 0.5e6);
  EXPECT_NEAR(*study.costs.straggler_wait_ns.value, late_ms * 1e6, 0.5e6);
}

// DDP sends the buffers of a batch norm before each forward pass.
TEST(Exchanges, ARankThatWorksBeforeTheForwardPassIsLateWithBuffersToo) {
  for (const bool waits : {true, false})
    for (const std::size_t late : {0U, 1U, 2U}) {
      MadeJob job(3);
      for (int i = 0; i < 16; ++i) {
        job.step();
        job.work(late, 60);
        job.broadcast(1, waits);
        job.all_work(10);
        backward(job, 20);
        job.together(5);
        job.all_work(2);
      }
      SCOPED_TRACE(fmt::format("rank {}, the sender waits: {}", late, waits));
      const auto study = job.read();
      expect_late(study, static_cast<std::int64_t>(late), 60, 6);
    }
}

TEST(Exchanges, EveryCollectiveHasARankThatWaitsLeast) {
  for (const char* name :
       {"gloo:all_gather", "gloo:reduce_scatter", "gloo:all_to_all", "gloo:barrier", "gloo:all_reduce"}) {
    MadeJob job(2);
    for (int i = 0; i < 16; ++i) {
      job.step();
      job.work(1, 40);
      job.all_work(5);
      job.together(3, name);  // before the forward pass
      job.all_work(10);
      job.together(2, name);  // in it
      job.all_work(10);
      backward(job, 20);
      job.together(5);
    }
    SCOPED_TRACE(name);
    expect_late(job.read(), 1, 40, 10);
  }
}

// Both wait for each other in every step: no sum over the step shows it.
TEST(Exchanges, LatenessOfTwoRanksInTwoExchangesIsNoCommunication) {
  MadeJob job(2);
  for (int i = 0; i < 16; ++i) {
    job.step();
    job.work(0, 30);
    job.together(2, "gloo:all_gather");
    job.work(1, 30);
    backward(job, 20);
    job.together(5);
  }
  const auto study = job.read();
  EXPECT_TRUE(study.job.training()->late.empty());
  EXPECT_NEAR(*study.costs.communication_ns.value, 7e6, 0.5e6);
  EXPECT_NEAR(*study.costs.straggler_wait_ns.value, 30e6, 0.5e6);
}

// The table and the shares are of the same steps: from exchange to exchange, four steps each.
TEST(Exchanges, TheRowOfTheTypicalRankHasTheFiguresOfTheShares) {
  MadeJob job(2);
  for (int i = 0; i < 23; ++i) {
    job.step();
    job.work(1, 15);
    job.all_work(10);
    backward(job, 20);
    if (i % 4 == 3) job.together(5);
  }
  const auto study = job.read();
  const auto& row = study.ranks.at(study.typical);
  EXPECT_EQ(row.rank, 0);
  EXPECT_NEAR(*row.step_ns, *study.step_ns, 1);
  EXPECT_NEAR(*row.exposed_ns, *study.costs.communication_ns.value + *study.costs.straggler_wait_ns.value, 1);
  EXPECT_NEAR(*row.exposed_ns, *row.communication_ns, 1);
  EXPECT_NEAR(*row.communication_ns, 65e6 / 4, 1e3);
}

// Work of a rank behind the exchange of a step is waited for in the next one.
TEST(Exchanges, WorkBehindTheExchangeIsLateInTheNextOne) {
  MadeJob job(2);
  for (int i = 0; i < 40; ++i) {
    job.step();
    job.all_work(10);
    backward(job, 20);
    job.together(5);
    if (i % 4 == 1) job.work(1, 30, "aten::save");
  }
  const auto study = job.read();
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  EXPECT_EQ(study.job.training()->late[0].rank, 1);
  EXPECT_EQ(study.job.training()->late[0].every, 4);
}

TEST(Exchanges, OtherNumbersOfThemAreSaid) {
  MadeJob job(2);
  for (int i = 0; i < 16; ++i) {
    job.step();
    job.work(1, 40);
    backward(job, 20);
    job.together(5);
    job.text_[1] += scope("user_annotation", "gloo:all_reduce", 4, job.now_[1] - .5, .2);
  }
  const auto study = job.read();
  EXPECT_EQ(study.job.training()->late.at(0).rank, 1);
  EXPECT_NE(join(study.untold, "\n")
                .find("which exchanges of the ranks belong together in 16 steps: step 1 has "
                      "1 and 2 exchanges of one kind"),
            std::string::npos)
      << join(study.untold, "\n");
}

TEST(CallKinds, AreInTheNamesOfCalls) {
  for (const auto& [name, kind] : std::map<std::string, CallKind>{
           {"c10d::allreduce_", CallKind::kAllReduce},
           {"nccl:_reduce_scatter_base", CallKind::kReduceScatter},
           {"_allgather_base", CallKind::kAllGather},
           {"all_to_allv", CallKind::kAllToAll},
           {"c10d::alltoall_base_", CallKind::kAllToAll},
           {"nccl:send 0->1", CallKind::kSend},
           {"c10d::recv_", CallKind::kReceive},
           {"gloo:reduce", CallKind::kReduce},
           {"_c10d_functional::wait_tensor", CallKind::kWait},
           {"nccl:coalesced", CallKind::kUnknown},
           {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", CallKind::kUnknown},
           {"void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>(RankData*)", CallKind::kAllReduce}})
    EXPECT_EQ(kind_of_call(name), kind) << name;
}

TEST(CallKinds, KernelsOfCommunicationAreKnownByTheirNames) {
  for (const char* name :
       {"ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)",
        "ncclsymkdevkernel_allgather_st", "nccldevkernel_broadcast",
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>(vllm::RankData*, vllm::RankSignals)",
        "void sglang::cross_device_reduce_2stage<float, 8>(int)",
        "void aiter::allreduce_fusion_kernel_1stage<8>()",
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
        "void (anonymous namespace)::two_shot_all_reduce_kernel<float, 16, 8, 3>(float**)",
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<__nv_bfloat16, 8>(AllReduceParams)",
        "tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_oneshot_lamport<3>",
        "mscclKernel_Sum_half_LL_false(ncclDevComm*)", "void mscclpp::allreduce7<float>(float*)",
        "rcclGenericKernel", "oneccl_allreduce_large_sycl", "nvshmemi_barrier_all_kernel",
        "void deep_ep::intranode::dispatch<8, 768>(int4*)",
        "void quickreduce::allreduce_prototype_twoshot<1>()"})
    EXPECT_TRUE(is_communication_kernel(name)) << name;
  for (const char* name :
       {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(int)",
        "void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)",
        "triton_poi_fused_all_reduce_wait_tensor_3",
        "void cudnn::cnn::reduce_wgrad_nchw_helper<float, float>(int)", "symmetric_quantize_kernel",
        "void cub::DeviceReduceKernel<cub::Policy>(int)", "indexSelectLargeIndex", "splitKreduce_kernel"})
    EXPECT_FALSE(is_communication_kernel(name)) << name;
}

// One rank with a device: in each step a kernel that computes for 80 ms, then an exchange of 10 ms.
struct DeviceStep {
  std::string kernel = "ncclDevKernel_AllReduce_Sum_f32(x)";
  std::string call = "nccl:all_reduce";  // of the host; empty: none
  std::string kernel_args = {};
  int correlation = 1;  // 0: the profiler lost it
  int steps = 6;

  [[nodiscard]] std::string text(int rank, int world, double compute_ms = 80, double wait_ms = 0) const {
    std::string all;
    for (int i = 0; i < steps; ++i) {
      const double at = 10 + i * (compute_ms + wait_ms + 15);
      const auto id = [&](int n) { return fmt::format(R"("correlation":{})", n == 0 ? 0 : 100 * i + n); };
      all += scope("user_annotation", fmt::format("ProfilerStep#{}", i), 1, at, compute_ms + wait_ms + 15);
      all += scope("cpu_op", "aten::mm", 1, at + .1, .5);
      all += scope("cuda_runtime", "cudaLaunchKernel", 1, at + .2, .1, id(11));
      all += scope("kernel", "gemm", 9, at + 1, compute_ms, id(11));
      all += scope("cpu_op", "autograd::engine::evaluate_function: A", 1, at + 1, .5);
      if (!call.empty()) all += scope("user_annotation", call, 1, at + 2, .5);
      all += scope("cuda_runtime", "cudaLaunchKernel", 1, at + 2.1, .1, id(correlation == 0 ? 17 : 12));
      all += scope("kernel", kernel, 10, at + 1 + compute_ms, 10 + wait_ms,
                   id(correlation == 0 ? 0 : 12) + (kernel_args.empty() ? "" : "," + kernel_args));
      all += scope("cpu_op", "aten::add_", 1, at + 3, .5);
      all += scope("cuda_runtime", "cudaLaunchKernel", 1, at + 3.1, .1, id(13));
      all += scope("kernel", "add", 9, at + 11 + compute_ms + wait_ms, 3, id(13));
    }
    all.pop_back();
    return fmt::format(R"({{"distributedInfo":{{"rank":{},"world_size":{}}},"traceEvents":[{}]}})", rank,
                       world, all);
  }
  [[nodiscard]] TraceStudy read() const {
    const auto folder = ScratchFolder::below_temp("device_step");
    std::ofstream(folder.path() / "rank0.json") << text(0, 1);
    return read_traces(folder.path());
  }
};

TEST(DeviceExchanges, AreCommunicationWhateverTheirKernelIsCalled) {
  for (const char* kernel :
       {"ncclSymkDevKernel_AllReduce_x", "nccldevkernel_allreduce",
        "void vllm::cross_device_reduce_1stage<float, 2>()", "multimem_all_reduce_kernel"}) {
    const auto study = DeviceStep{.kernel = kernel}.read();
    SCOPED_TRACE(kernel);
    EXPECT_NEAR(*study.ranks[0].communication_ns, 10e6, 1e3);
    EXPECT_NEAR(*study.ranks[0].exposed_ns, 10e6, 1e3);
    EXPECT_NEAR(*study.step_ns, 95e6, 1e3);
  }
  const auto named =
      DeviceStep{.kernel = "some_kernel", .kernel_args = R"("Collective name":"allreduce")"}.read();
  EXPECT_NEAR(*named.ranks[0].communication_ns, 10e6, 1e3);
}

TEST(DeviceExchanges, WithoutCorrelationCountInTheStepOfTheirCallOrOfTheKernelBefore) {
  const auto study = DeviceStep{.correlation = 0}.read();
  EXPECT_NEAR(*study.ranks[0].communication_ns, 10e6, 1e3);
  const auto placed = DeviceStep{.call = "", .correlation = 0}.read();
  EXPECT_NEAR(*placed.ranks[0].communication_ns, 10e6, 1e3);
  EXPECT_NE(join(placed.untold, "\n").find("what launched 6 kernels of rank0.json"), std::string::npos)
      << join(placed.untold, "\n");
}

// The call of the host says what it is, and not the name of the kernel.
TEST(DeviceExchanges, TheCallOfTheHostWinsOverTheNameOfTheKernel) {
  for (const char* kernel : {"ncclDevKernel_Generic_1(x)", "ncclDevKernel_SendRecv(x)"})
    for (const bool in_args : {true, false}) {
      const DeviceStep job{
          .kernel = kernel,
          .call = in_args ? "record_param_comms" : "nccl:all_to_all",
          .kernel_args = in_args ? R"("Collective name":"all_to_allv","Process Group Ranks":"[0, 1]")" : "",
          .steps = 12};
      const auto folder = ScratchFolder::below_temp("host_call");
      std::ofstream(folder.path() / "rank0.json") << job.text(0, 2, 80, 40);
      std::ofstream(folder.path() / "rank1.json") << job.text(1, 2, 120, 0);
      const auto study = read_traces(folder.path());
      SCOPED_TRACE(kernel);
      ASSERT_EQ(study.job.training()->late.size(), 1U);
      EXPECT_EQ(study.job.training()->late[0].rank, 1);
      EXPECT_NEAR(*study.costs.communication_ns.value, 10e6, 1e3);
      EXPECT_FALSE(study.job.benchmark.params.contains("pipeline"));
    }
  const auto pipeline = DeviceStep{.kernel = "ncclDevKernel_SendRecv(x)", .call = "nccl:send 0->1"}.read();
  EXPECT_TRUE(pipeline.job.benchmark.params.contains("pipeline"));
}

TEST(TraceSteps, DropsAnEmptyLastStep) {
  const auto folder = ScratchFolder::below_temp("stub");
  std::string text;
  for (int i = 0; i < 3; ++i)
    text += scope("user_annotation", fmt::format("ProfilerStep#{}", i), 1, 10 + 100.01 * i, 100) +
            scope("cpu_op", "aten::mm", 1, 11 + 100.01 * i, 98);
  text += scope("user_annotation", "ProfilerStep#3", 1, 310.03, .05);
  text.pop_back();
  std::ofstream(folder.path() / "rank0.json") << R"({"traceEvents":[)" + text + "]}";
  const auto study = read_traces(folder.path());
  EXPECT_NEAR(*study.step_ns, 100e6, 0.1e6);
  EXPECT_EQ(study.last_step, 2);
  EXPECT_EQ(join(study.left_out, "\n"),
            "step 3 (rank 0): it is empty: the profiler was left or entered in it");
}

TEST(TraceSteps, OneStepHasItsFigures) {
  const auto study = DeviceStep{.steps = 1}.read();
  EXPECT_EQ(study.steps, 1);
  EXPECT_NEAR(*study.step_ns, 95e6, 1e3);
  EXPECT_NEAR(*study.ranks[0].exposed_ns, 10e6, 1e3);
  EXPECT_NE(join(study.untold, "\n").find("one step is in the figures; record two and more"),
            std::string::npos);
}

TEST(TraceSteps, TwoRecordingsOfOneProcessAreOneJob) {
  const auto folder = ScratchFolder::below_temp("cycles");
  for (const int first : {3, 11}) {
    std::string text;
    for (int i = first; i < first + 6; ++i)
      text += scope("user_annotation", fmt::format("ProfilerStep#{}", i), 1, 100 * i, 100) +
              scope("cpu_op", "aten::mm", 1, 100 * i + 1, 98);
    text.pop_back();
    std::ofstream(folder.path() / fmt::format("box_4242.{}.pt.trace.json", first))
        << R"({"traceEvents":[)" + text + "]}";
  }
  const auto study = read_traces(folder.path());
  EXPECT_EQ(study.world, 1);
  EXPECT_EQ(study.recordings, 2);
  EXPECT_EQ(study.steps, 10);
  EXPECT_NEAR(*study.step_ns, 100e6, 1);
}

TEST(TraceSteps, ADeviceAloneSaysWhatToRecord) {
  const auto folder = ScratchFolder::below_temp("gpu_only");
  std::ofstream(folder.path() / "trace.json")
      << R"({"traceEvents":[)" + scope("gpu_user_annotation", "ProfilerStep#0", 7, 10, 115) +
             scope("kernel", "gemm", 7, 11, 90, R"("correlation":1)") + R"({"ph":"M"}]})";
  try {
    (void)read_traces(folder.path());
    ADD_FAILURE() << "it was taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("trace.json has events of a device alone"), std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find("record ProfilerActivity.CPU as well"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace paceline::analysis::traces
