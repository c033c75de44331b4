// SPDX-License-Identifier: MIT
// Steps on a device that runs behind its host, and the parts of steps on both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "analysis/traces/trace_file.h"
#include "analysis/traces/trace_study.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline::analysis::traces {
namespace {

std::string span(std::string_view category, const std::string& name, int thread, double begin_ms, double ms,
                 int correlation = -1) {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"correlation":{}}}}},)",
      category, name, thread, 1e3 * begin_ms, 1e3 * ms, correlation);
}

// The host hands over a step in 40 ms. The device needs 100 ms for it: 30 forward, 65 backward, 5 optimizer.
struct DeviceJob {
  int steps = 5;
  double host_ms = 40;
  double recorded_until_ms = 1e9;  // kernels that begin later are missing

  [[nodiscard]] std::string text() const {
    std::string text;
    double host = 0, device = 0;
    const auto kernel = [&](const char* op, double at, double ms, int id) {
      text += span("cpu_op", op, 1, at, 1) + span("cuda_runtime", "cudaLaunchKernel", 1, at + .2, .1, id);
      const double begin = std::max(device, at + .5);
      if (begin < recorded_until_ms) text += span("kernel", std::string("kernel_of_") + op, 9, begin, ms, id);
      device = begin + ms;
    };
    for (int i = 0; i < steps; ++i, host += host_ms) {
      text += span("user_annotation", fmt::format("ProfilerStep#{}", i), 1, host, host_ms);
      kernel("aten::mm", host + 1, 30, 10 * i + 1);
      kernel("autograd::engine::evaluate_function: Mm", host + 10, 65, 10 * i + 2);
      text += span("user_annotation", "Optimizer.step#SGD.step", 1, host + 30, 5);
      kernel("aten::add_", host + 31, 5, 10 * i + 3);
    }
    text.pop_back();
    return R"({"traceEvents":[)" + text + "]}";
  }
};

class DeviceTraces : public ::testing::Test {
 protected:
  [[nodiscard]] TraceStudy read(const std::string& text) const {
    std::ofstream(folder_.path() / "trace_rank0.json") << text;
    return read_traces(folder_.path());
  }
  ScratchFolder folder_ = ScratchFolder::below_temp("device_traces");
};

double sum_of_parts(const RankRow& r) {
  return r.data_wait_ns.value().value_or(0) + *r.forward_ns + r.backward_ns.value().value_or(0) +
         r.optimizer_ns.value().value_or(0) + r.exposed_ns.value().value_or(0) + *r.rest_ns;
}

TEST_F(DeviceTraces, AStepLastsUntilItsKernelsHaveEnded) {
  const auto study = read(DeviceJob{}.text());
  const auto& rank = study.ranks.at(0);
  EXPECT_NEAR(*study.step_ns, 100e6, 1e3);
  EXPECT_NEAR(*rank.step_ns, 100e6, 1e3);
  EXPECT_NEAR(*rank.forward_ns, 30e6, 1e3);
  EXPECT_NEAR(*rank.backward_ns, 65e6, 1e3);
  EXPECT_NEAR(*rank.optimizer_ns, 5e6, 1e3);
  EXPECT_NEAR(*rank.rest_ns, 0, 1e3);
  EXPECT_NEAR(sum_of_parts(rank), *rank.step_ns, 10);
  EXPECT_NEAR(*shape_of(study.job).host_share, 0, 1e-6);
  EXPECT_TRUE(study.left_out.empty());
}

TEST_F(DeviceTraces, WhereTheHostIsSlowerAStepIsTheHosts) {
  const auto study = read(DeviceJob{.host_ms = 140}.text());
  EXPECT_NEAR(*study.step_ns, 140e6, 1e3);
  EXPECT_NEAR(*study.ranks.at(0).rest_ns, 40e6, 1e3);
  EXPECT_NEAR(sum_of_parts(study.ranks.at(0)), 140e6, 10);
  EXPECT_NEAR(*shape_of(study.job).host_share, 40.0 / 140, 1e-3);
  ASSERT_EQ(study.bottlenecks.size(), 1U);
  EXPECT_NEAR(*study.bottlenecks[0].cost_ns.value, 40e6, 1e5);
}

TEST_F(DeviceTraces, AStepThatIsCutOffOnTheDeviceIsLeftOutAndSaid) {
  const auto study = read(DeviceJob{.recorded_until_ms = 460}.text());  // of the last step: forward, backward
  EXPECT_EQ(study.last_step, 3);
  EXPECT_NEAR(*study.step_ns, 100e6, 1e3);
  ASSERT_EQ(study.left_out.size(), 1U);
  EXPECT_NE(study.left_out[0].find("step 4 (rank 0): 1 of its 3 launches have no kernel in trace_rank0.json"),
            std::string::npos)
      << study.left_out[0];
}

TEST_F(DeviceTraces, ATraceOfOneStepThatIsCutOffIsRefused) {
  EXPECT_THROW((void)read(DeviceJob{.steps = 1, .recorded_until_ms = 50}.text()), Error);
  EXPECT_NO_THROW((void)read(DeviceJob{.steps = 1}.text()));
}

TEST_F(DeviceTraces, ADeviceThatWasNotRecordedIsRefused) {
  try {
    (void)read(DeviceJob{.recorded_until_ms = 0}.text());
    ADD_FAILURE() << "it was taken";
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("trace_rank0.json has 15 launches of kernels and no kernel"), 0U)
        << e.what();
  }
}

TEST_F(DeviceTraces, OperatorsHaveTimesOfTheDeviceAndOfTheHost) {
  const auto study = read(DeviceJob{}.text());
  ASSERT_EQ(study.operators.size(), 3U);
  EXPECT_EQ(study.operators[1].name, "aten::mm");
  EXPECT_NEAR(study.operators[1].device_ns, 30e6, 1e3);
  EXPECT_NEAR(study.operators[1].host_ns, 1e6, 1e3);
  EXPECT_NEAR(study.operators[1].share, 0.3, 0.01);
  EXPECT_EQ(study.operators[1].calls, 1);
  ASSERT_EQ(study.operators[1].kernels.size(), 1U);
  EXPECT_EQ(study.operators[1].kernels[0].name, "kernel_of_aten::mm");
  EXPECT_EQ(study.operators[1].kernels[0].calls, 1);
  EXPECT_NEAR(study.operators[1].kernels[0].share, 0.3, 0.01);
}

// Events and fields that are read, from our own trace of ResNet-50 on one H200. The host hands over a step in
// about 41 ms; the device works on it for 100.6 ms.
TEST_F(DeviceTraces, TheStepsOfARealDeviceHoldTheirKernels) {
  const auto study = read_traces(TEST_DATA "/traces/h200_rank0.json.gz");
  ASSERT_EQ(study.ranks.size(), 1U);
  EXPECT_EQ(study.steps, 2);
  EXPECT_NEAR(*study.step_ns, (123.04e6 + 87.09e6) / 2, 0.05e6);
  EXPECT_NEAR(sum_of_parts(study.ranks[0]), *study.ranks[0].step_ns, 10);
  EXPECT_LT(*shape_of(study.job).host_share, 0.02);
  const auto& backward = study.operators.at(0);
  EXPECT_EQ(backward.name, "aten::convolution_backward");
  ASSERT_EQ(backward.kernels.size(), 19U);
  EXPECT_EQ(backward.kernels[0].calls, 37);
  EXPECT_NEAR(backward.kernels[0].share, 0.188, 0.002);
  double kernels_ns = 0;
  for (const auto& kernel : backward.kernels) kernels_ns += kernel.device_ns;
  EXPECT_NEAR(kernels_ns, backward.device_ns, 1) << "every kernel is below its operator";
}

// Python code between operators is the host's and not the forward pass.
TEST(HostGaps, AreNotForward) {
  const auto folder = ScratchFolder::below_temp("host_gaps");
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const double at = 100.0 * i;
    text += span("user_annotation", fmt::format("ProfilerStep#{}", i), 1, at, 100);
    text += span("cpu_op", "aten::mm", 1, at + 60, 10);  // behind 60 ms of Python
    text += span("cpu_op", "autograd::engine::evaluate_function: Mm", 1, at + 70, 20);
    text += span("user_annotation", "Optimizer.step#SGD.step", 1, at + 90, 5);
  }
  text.pop_back();
  std::ofstream(folder.path() / "trace_rank0.json") << R"({"traceEvents":[)" + text + "]}";
  const auto study = read_traces(folder.path());
  EXPECT_NEAR(*study.ranks[0].forward_ns, 10e6, 1e3);
  EXPECT_NEAR(*study.ranks[0].backward_ns, 20e6, 1e3);
  EXPECT_NEAR(*study.ranks[0].rest_ns, 65e6, 1e3);
  EXPECT_NEAR(*study.costs.own_ns[result::OwnPart::kHost].value, 65e6, 1e3);
  EXPECT_NEAR(sum_of_parts(study.ranks[0]), 100e6, 10);
}

}  // namespace
}  // namespace paceline::analysis::traces
