// SPDX-License-Identifier: MIT
#include "support/device_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "analysis/traces/trace_file.h"
#include "base/error.h"
#include "base/host_times.h"

namespace paceline::plugin_support {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ProfiledCall inference(std::int64_t start, std::int64_t end) {
  return {.name = "inference", .thread = 1, .start_ns = start, .end_ns = end, .scope = true};
}
ProfiledCall op(const std::string& name, std::int64_t start, std::int64_t end, std::uint64_t number) {
  return {.name = name, .thread = 1, .start_ns = start, .end_ns = end, .number = number};
}
ProfiledCall on_gpu(const std::string& name, std::int64_t start, std::int64_t end, std::uint64_t started_by,
                    std::uint64_t launch = 0) {
  return {.name = name,
          .thread = 7,
          .start_ns = start,
          .end_ns = end,
          .on_device = true,
          .started_by = started_by,
          .launch = launch};
}
ProfiledCall launch(const std::string& name, std::int64_t start, std::uint64_t launch) {
  return {
      .name = name, .thread = 1, .start_ns = start, .end_ns = start + 1, .launches = true, .launch = launch};
}

using Calls = std::vector<ProfiledCall>;

// Calls of the same inference again, later.
Calls repeated(Calls calls, int times, std::int64_t every) {
  const auto once = calls;
  for (int i = 1; i < times; ++i)
    for (auto call : once) {
      call.start_ns += i * every, call.end_ns += i * every;
      if (call.number != 0) call.number += 1000U * static_cast<unsigned>(i);
      if (call.started_by != 0) call.started_by += 1000U * static_cast<unsigned>(i);
      if (call.launch != 0) call.launch += 1000U * static_cast<unsigned>(i);
      calls.push_back(call);
    }
  return calls;
}

std::vector<std::string> names_of(const plugin::LayerTimes& times) {
  std::vector<std::string> names;
  for (const auto& layer : times.layers) names.push_back(layer.name);
  return names;
}

double sum_of(const plugin::LayerTimes& times) {
  double sum = 0;
  for (const auto& layer : times.layers) sum += layer.time_ns.value_or(0);
  return sum;
}

std::string refusal_of(Calls calls) {
  try {
    device_layers(std::move(calls), {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    return error.what();
  }
  return "no refusal";
}

// Kernels run long after the calls that started them.
Calls two_convolutions() {
  return {inference(0, 100),
          op("aten::conv2d", 10, 20, 1),
          op("aten::cudnn_convolution", 12, 18, 2),
          op("aten::view", 21, 22, 3),
          op("aten::conv2d", 25, 35, 4),
          on_gpu("transpose", 40, 45, 2),
          on_gpu("sgemm", 45, 60, 2),
          on_gpu("sgemm", 60, 80, 4),
          on_gpu("Memcpy DtoH (Device -> Pinned)", 80, 90, 5),
          op("aten::copy_", 36, 38, 5)};
}

TEST(DeviceLayers, KernelsCountForTheOutermostOperatorThatStartedThem) {
  const auto times = device_layers(two_convolutions(), {});
  EXPECT_THAT(names_of(times), ElementsAre("conv2d_0", "conv2d_1", "copy__0")) << "a view runs nothing there";
  EXPECT_EQ(times.layers[0].type, "aten::conv2d");
  EXPECT_EQ(times.layers[0].time_ns, 20) << "two kernels, of an operator inside it";
  EXPECT_EQ(times.layers[1].time_ns, 20);
  EXPECT_EQ(times.layers[2].time_ns, 10) << "copies are work, too";
  EXPECT_THAT(times.source, HasSubstr("on the device"));
  EXPECT_THAT(times.source, Not(HasSubstr(std::string(kHostTimes))));
}

TEST(DeviceLayers, TogetherTheyAreTheBusyTimeOfTheDevice) {
  auto calls = two_convolutions();
  calls.push_back(on_gpu("Memset (Device)", 92, 95, 0));
  const auto times = device_layers(calls, {});
  EXPECT_EQ(sum_of(times), busy_time(calls));
  EXPECT_EQ(times.layers.back().name, "Memset (Device)");
  EXPECT_EQ(times.layers.back().type, "memset") << "nothing started it: a row, not lost";
  EXPECT_THAT(times.source, HasSubstr("; 5.7 % are kernels and copies that no operator started"));
}

TEST(DeviceLayers, TimesAreMediansOverInferences) {
  auto calls = repeated(two_convolutions(), 3, 1000);
  for (auto& call : calls)
    if (call.name == "transpose" && call.start_ns > 2000) call.start_ns -= 400;
  const auto times = device_layers(calls, {});
  EXPECT_THAT(names_of(times), ElementsAre("conv2d_0", "conv2d_1", "copy__0"));
  EXPECT_EQ(times.layers[0].time_ns, 20);
}

TEST(DeviceLayers, ALaunchSaysWhichOperatorItIsInside) {
  auto calls = two_convolutions();
  std::uint64_t number = 50;
  for (auto& call : calls)
    if (call.on_device) call.started_by = 0, call.launch = number++;
  for (const auto& [at, of] : {std::pair{14, 50U}, {16, 51U}, {30, 52U}, {37, 53U}})
    calls.push_back(launch("cudaLaunchKernel", at, of));
  const auto times = device_layers(calls, {});
  EXPECT_THAT(names_of(times), ElementsAre("conv2d_0", "conv2d_1", "copy__0"));
  EXPECT_EQ(times.layers[0].time_ns, 20);
}

// One launch starts all kernels of a graph, and no operator runs.
TEST(DeviceLayers, KernelsOfAGraphAreLayersByNameInOrder) {
  const auto times = device_layers(
      repeated({inference(0, 100), launch("cudaGraphLaunch", 5, 9), on_gpu("conv", 20, 30, 0, 9),
                on_gpu("relu", 30, 32, 0, 9), on_gpu("conv", 32, 50, 0, 9)},
               2, 1000),
      {});
  EXPECT_THAT(names_of(times), ElementsAre("conv", "relu", "conv (2)"));
  EXPECT_EQ(times.layers[0].type, "kernel");
  EXPECT_EQ(times.layers[2].time_ns, 18);
  EXPECT_THAT(times.source, HasSubstr("no operator started them, so that each is a layer"));
}

TEST(DeviceLayers, WorkCountsForTheInferenceThatLaunchedIt) {
  // The last kernel ends after its inference, beside the next one.
  const auto times = device_layers(
      {inference(0, 50), launch("cuLaunchKernel", 40, 1), on_gpu("late", 55, 60, 0, 1), inference(52, 100),
       launch("cuLaunchKernel", 90, 2), on_gpu("late", 101, 110, 0, 2), on_gpu("before all", -20, -10, 0)},
      {});
  EXPECT_THAT(names_of(times), ElementsAre("late"));
  EXPECT_EQ(times.layers[0].time_ns, 7);
}

TEST(DeviceLayers, OverlappingStreamsAddUpByKernelAndTheSourceSaysSo) {
  const Calls calls{inference(0, 100), op("aten::mm", 10, 12, 1), op("aten::add", 13, 15, 2),
                    on_gpu("gemm", 20, 60, 1), on_gpu("add", 40, 80, 2)};
  const auto times = device_layers(calls, {});
  EXPECT_EQ(sum_of(times), 80);
  EXPECT_EQ(busy_time(calls), 60);
  EXPECT_THAT(times.source,
              HasSubstr("streams overlap: layers add up to 33.3 % more than the device's busy time"));
}

TEST(DeviceLayers, BranchesOnTwoStreamsMaySwap) {
  const auto times = device_layers(
      {inference(0, 100), op("aten::mm", 10, 12, 1), op("aten::add", 13, 15, 2), on_gpu("gemm", 20, 60, 1),
       on_gpu("add", 61, 80, 2), inference(1000, 1100), op("aten::mm", 1010, 1012, 3),
       op("aten::add", 1013, 1015, 4), on_gpu("gemm", 1030, 1060, 3), on_gpu("add", 1020, 1025, 4)},
      {});
  EXPECT_THAT(names_of(times), ElementsAre("add_0", "mm_0"));
  EXPECT_EQ(times.layers[0].time_ns, 12);
  EXPECT_EQ(times.layers[1].time_ns, 35);
}

TEST(DeviceLayers, InferencesWithOtherKernelsHaveNoMedian) {
  auto calls = repeated({inference(0, 100), on_gpu("conv", 20, 30, 0), on_gpu("relu", 30, 32, 0)}, 3, 1000);
  calls.push_back(on_gpu("conv", 1050, 1060, 0));
  EXPECT_THAT(refusal_of(calls), HasSubstr("different layers (3 in one, 2 in another)"));
}

// An operator may use another number of kernels: the layers are the same.
TEST(DeviceLayers, AnOperatorIsOneLayerHoweverManyKernelsItHas) {
  auto calls = repeated(two_convolutions(), 2, 1000);
  calls.push_back(on_gpu("split", 1091, 1095, 1004));
  EXPECT_EQ(device_layers(calls, {}).layers.at(1).time_ns, 22);
}

TEST(DeviceLayers, KernelsThatWereNotSeenAreNoZero) {
  auto calls = two_convolutions();
  calls.push_back(launch("cudaGraphLaunch", 50, 77));
  EXPECT_THAT(refusal_of(calls), HasSubstr("saw no kernel of 1 launches (cudaGraphLaunch)"));
}

TEST(DeviceLayers, WithoutKernelsTimesAreSaidToBeTheHosts) {
  auto calls = two_convolutions();
  std::erase_if(calls, [](const auto& call) { return call.on_device; });
  const auto times = device_layers(calls, {});
  EXPECT_THAT(names_of(times), ElementsAre("conv2d_0", "view_0", "conv2d_1", "copy__0"));
  EXPECT_EQ(times.layers[0].time_ns, 10);
  EXPECT_THAT(times.source, HasSubstr(std::string(kHostTimes)));
  EXPECT_THAT(times.source, Not(HasSubstr("on the device")));
  EXPECT_THAT(refusal_of({inference(0, 10)}), HasSubstr("neither operators nor kernels"));
  EXPECT_THAT(refusal_of({on_gpu("conv", 0, 1, 0)}), HasSubstr("no inference"));
  EXPECT_THAT(refusal_of({inference(0, 10), on_gpu("conv", 50, 60, 0)}), HasSubstr("none of an inference"));
}

TEST(DeviceLayers, FactsBelongToTheSameOperatorsOnly) {
  const std::vector<OperatorFacts> facts{{"aten::conv2d", "tf32", "conv1"},
                                         {"aten::view", "fp32", ""},
                                         {"aten::conv2d", "fp16", "conv2"},
                                         {"aten::copy_", "fp32", ""}};
  const auto times = device_layers(two_convolutions(), facts);
  EXPECT_EQ(times.layers[0].model_layer, "conv1");
  EXPECT_EQ(times.layers[0].precision, "tf32");
  EXPECT_EQ(times.layers[1].model_layer, "conv2") << "operators without work on the device count";
  const auto others = device_layers(two_convolutions(), std::span(facts).first(3));
  EXPECT_EQ(others.layers[0].model_layer, "");
}

// Forward passes of ResNet-50 in training on an H200. Kernels are linked to launches, not to operators.
Calls calls_of(const analysis::traces::Trace& trace) {
  using analysis::traces::EventKind;
  Calls calls;
  for (const auto& event : trace.events) {
    ProfiledCall call{
        .name = trace.name_of(event), .thread = event.thread, .start_ns = event.begin, .end_ns = event.end};
    const bool on_host = event.kind == EventKind::kOperator || event.kind == EventKind::kAnnotation;
    if (event.kind == EventKind::kAnnotation && call.name != "forward") continue;
    call.scope = event.kind == EventKind::kAnnotation;
    call.launches = event.kind == EventKind::kLaunch;
    call.on_device = !on_host && !call.launches;
    if (!on_host) call.launch = static_cast<std::uint64_t>(event.correlation);
    calls.push_back(call);
  }
  return calls;
}

TEST(DeviceLayers, OfAStoredTrace) {
  const auto reading = analysis::traces::read_trace(TEST_DATA "/traces/h200_rank0.json.gz", "h200");
  const auto calls = calls_of(reading.trace.value());
  const auto times = device_layers(calls, {});
  std::map<std::string, int> types;
  for (const auto& layer : times.layers) ++types[layer.type];
  EXPECT_EQ(types["aten::conv2d"], 53);
  EXPECT_EQ(types["aten::batch_norm"], 53);
  EXPECT_EQ(types["aten::relu_"], 49);
  EXPECT_EQ(types["aten::linear"], 1);
  EXPECT_EQ(times.layers[0].name, "conv2d_0");
  for (const auto& layer : times.layers) EXPECT_GT(layer.time_ns.value_or(0), 0) << layer.name;
}

// cuDNN runs parts of some convolutions on a second stream: 0.07 of 23.7 ms.
TEST(DeviceLayers, OfOneForwardPassOfAStoredTraceHoldAllItsKernels) {
  const auto reading = analysis::traces::read_trace(TEST_DATA "/traces/h200_rank0.json.gz", "h200");
  auto calls = calls_of(reading.trace.value());
  const auto first = std::find_if(calls.begin(), calls.end(), [](const auto& call) { return call.scope; });
  const auto [begin, end] = std::pair{first->start_ns, first->end_ns};
  std::map<std::uint64_t, bool> launched;
  for (const auto& call : calls)
    if (call.launches) launched[call.launch] = begin <= call.start_ns && call.start_ns <= end;
  Calls work;
  double all = 0;
  for (const auto& call : calls)
    if (call.on_device && launched[call.launch])
      work.push_back(call), all += static_cast<double>(call.end_ns - call.start_ns);
  bool one = false;
  std::erase_if(calls, [&](const auto& call) { return call.scope && std::exchange(one, true); });
  const auto times = device_layers(calls, {});
  EXPECT_EQ(work.size(), 217U);
  EXPECT_NEAR(sum_of(times), all, 1e-6 * all);
  EXPECT_NEAR(sum_of(times), busy_time(work), 0.004 * all);
  EXPECT_THAT(times.source, HasSubstr("add up to 0.3 % more than the device's busy time"));
}

}  // namespace
}  // namespace paceline::plugin_support
