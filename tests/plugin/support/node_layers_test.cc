// SPDX-License-Identifier: MIT
// Profiles of ONNX Runtime with kernels of a device: their form is that of its CUDA profiler's source, as
// none was recorded here.
#include "onnxruntime/node_layers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/host_times.h"
#include "onnxruntime/node_providers.h"
#include "onnxruntime/profile_events.h"
#include "support/layer_medians.h"

namespace paceline::ort_plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string json_event(const char* category, const std::string& name, int ts, int dur,
                       const std::string& args) {
  return fmt::format(R"({{"cat":"{}","pid":1,"tid":1,"dur":{},"ts":{},"ph":"X","name":"{}","args":{{{}}}}})",
                     category, dur, ts, name, args);
}
std::string session(const char* name, int ts, int dur) {
  return json_event("Session", name, ts, dur, "");
}
std::string node(const std::string& name, const char* op, int ts, int dur,
                 const char* provider = "CUDAExecutionProvider") {
  return json_event(
      "Node", name + "_kernel_time", ts, dur,
      fmt::format(R"("op_name":"{}","provider":"{}","input_type_shape":[],"output_type_shape":[])", op,
                  provider));
}
std::string gpu_work(const std::string& name, const char* op, int ts, int dur) {
  return json_event("Kernel", name, ts, dur, fmt::format(R"("op_name":"{}","stream":"7")", op));
}
std::string profile_text(const std::vector<std::string>& events) {
  return fmt::format("[{}]", fmt::join(events, ","));
}

// By start, as the CUDA profiler needs it. The kernels of a node follow it.
std::vector<std::string> run_at(int ts, int conv_us) {
  return {session("model_run", ts, 90),
          gpu_work("Memcpy HtoD", "", ts + 1, 3),
          session("SequentialExecutor::Execute", ts + 5, 80),
          node("conv1", "Conv", ts + 10, 4),
          gpu_work("transpose", "Conv", ts + 11, 2),
          gpu_work("sgemm", "Conv", ts + 12, conv_us),
          node("shape", "Shape", ts + 20, 1, "CPUExecutionProvider"),
          node("view", "Reshape", ts + 22, 1),
          node("relu1", "Relu", ts + 30, 2),
          gpu_work("elementwise", "Relu", ts + 31, 6)};
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

plugin::Layer layer_of(const ProfiledNode& node) {
  return {node.name, node.op, "fp32", {}, {}};
}

std::vector<std::string> names_of(const std::vector<plugin::Layer>& layers) {
  std::vector<std::string> names;
  for (const auto& layer : layers) names.push_back(layer.name);
  return names;
}

TEST(NodeLayers, TimesAreThoseOfKernels) {
  const auto runs = runs_of_profile(
      profile_text(joined({session("session_initialization", 0, 50), gpu_work("Memcpy HtoD", "", 3, 90)},
                          joined(run_at(100, 20), joined(run_at(200, 24), run_at(300, 22))))));
  ASSERT_EQ(runs.size(), 3U);
  const auto times = layers_on_device(runs, layer_of);
  EXPECT_THAT(names_of(times.layers), ElementsAre("Memcpy HtoD", "conv1", "shape", "view", "relu1"));
  EXPECT_EQ(times.layers[0].type, "copy") << "nothing started it: a row, not lost";
  EXPECT_EQ(times.layers[0].time_ns, 3000);
  EXPECT_EQ(times.layers[1].time_ns, 24000) << "two kernels, the median of three runs";
  EXPECT_EQ(times.layers[2].time_ns, 1000) << "it ran on the CPU";
  EXPECT_EQ(times.layers[3].time_ns, std::nullopt) << "it has no kernel, and its launch is not its time";
  EXPECT_EQ(times.layers[4].time_ns, 6000);
  EXPECT_THAT(times.source, HasSubstr("kernels and copies on the device"));
  EXPECT_THAT(times.source, HasSubstr("1 of 4 nodes ran on the CPU and have its times"));
  EXPECT_THAT(times.source, Not(HasSubstr(std::string(kHostTimes))));
}

TEST(NodeLayers, WithoutKernelsTimesAreSaidToBeTheHosts) {
  auto events = run_at(100, 20);
  std::erase_if(events, [](const auto& event) { return event.find("Kernel") != std::string::npos; });
  const auto times = layers_on_device(runs_of_profile(profile_text(events)), layer_of);
  EXPECT_THAT(names_of(times.layers), ElementsAre("conv1", "shape", "view", "relu1"));
  EXPECT_EQ(times.layers[0].time_ns, 4000);
  EXPECT_THAT(times.source, HasSubstr(std::string(kHostTimes)));
  EXPECT_THAT(times.source, Not(HasSubstr("on the device")));
}

TEST(NodeLayers, RunsWithOtherKernelsHaveNoMedian) {
  const auto runs = runs_of_profile(
      profile_text(joined(joined(run_at(100, 20), {gpu_work("Memcpy DtoH", "", 185, 3)}), run_at(200, 20))));
  try {
    layers_on_device(runs, layer_of);
    FAIL() << "they have a median";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("different layers (6 in one, 5 in another)"));
  }
}

// Releases without a profiler of a device list events by their end.
TEST(ProfileEvents, ARunMayFollowItsNodes) {
  const auto text =
      profile_text({session("session_initialization", 0, 50), node("a", "Conv", 110, 4),
                    node("b", "Relu", 120, 4), session("SequentialExecutor::Execute", 105, 30),
                    session("model_run", 100, 40), node("a", "Conv", 160, 4), session("model_run", 150, 40)});
  const auto runs = runs_of_profile(text);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].nodes.size(), 2U);
  EXPECT_EQ(runs[1].nodes.size(), 1U);
  EXPECT_FALSE(runs[0].nodes[0].device_ns);
}

TEST(ProfileEvents, AKernelOfAnotherOperatorIsNotTheNodes) {
  const auto runs = runs_of_profile(
      profile_text({session("model_run", 100, 40), node("a", "Conv", 110, 4),
                    gpu_work("gemm", "MatMul", 111, 2), node("b", "Relu", 120, 1),
                    session("SequentialExecutor::Execute", 125, 1), gpu_work("late", "Relu", 126, 2)}));
  EXPECT_FALSE(runs.at(0).nodes.at(0).device_ns);
  EXPECT_FALSE(runs[0].nodes[1].device_ns) << "another event is between them";
  EXPECT_EQ(runs[0].alone.size(), 2U);
}

TEST(ProfileEvents, DamagedTextIsNamed) {
  EXPECT_THROW(runs_of_profile("["), Error);
  EXPECT_THROW(runs_of_profile(R"([{"cat":"Session","name":"model_run"}])"), Error);
}

}  // namespace
}  // namespace paceline::ort_plugin
