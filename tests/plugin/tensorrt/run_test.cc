// SPDX-License-Identifier: MIT
// Plans at run time: what is checked before anything runs, data to the device and back, what is read back.
#include "plugin/tensorrt/double_test.h"

namespace paceline::tensorrt_test {
namespace {

using model_files_test::bind;
using model_files_test::run;
using model_files_test::setting;
using model_files_test::tensor;
using testing::ElementsAre;

class TensorRtRun : public Double, protected DoubleState {
 protected:
  std::pair<std::optional<ErrorCode>, std::string> refusal(const Shape& shape,
                                                           const model_files_test::Settings& with = {}) {
    return error_of([&] { (void)load(shape, with); });
  }
};

TEST_F(TensorRtRun, OutputsArriveOnTheHost) {
  (void)build(kModel);
  const auto engine = load({2, 4});
  std::vector<Tensor> data;
  data.push_back(tensor("x", {2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  bind(*engine, data);
  EXPECT_THAT(run(*engine), ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
}

TEST_F(TensorRtRun, InputsInPinnedMemoryAreCopiedEveryTime) {
  (void)build(kModel);
  const auto engine = load({1, 4}, {"fp32", 1, {{"io", "pinned"}}});
  std::vector<Tensor> data;
  data.push_back(tensor("x", {1, 4}, std::vector<float>{1, 2, 3, 4}));
  bind(*engine, data);
  EXPECT_THAT(run(*engine), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(setting(*engine, "io"), "inputs and outputs copied from and to pinned memory");
  EXPECT_EQ(refusal({1, 4}, {"fp32", 1, {{"io", "fast"}}}).first, ErrorCode::kUsage);
}

TEST_F(TensorRtRun, PageableBuffersAreNotDriverAllocated) {
  (void)build(kModel);
  auto engine = load({1, 4}, {"fp32", 1, {{"io", "pageable"}}});
  std::vector<Tensor> data;
  data.push_back(tensor("x", {1, 4}, std::vector<float>{1, 2, 3, 4}));
  bind(*engine, data);
  EXPECT_THAT(run(*engine), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(setting(*engine, "io"), "inputs and outputs copied from and to pageable memory");
  EXPECT_EQ(live_allocations(), 12);  // a stream, eight events, input, output and activations on the device
}

TEST_F(TensorRtRun, OutputsThatStayOnTheDeviceAreBroughtOnRequest) {
  (void)build(kModel);
  for (const char* graph : {"false", "true"}) {
    const auto engine = load({1, 4}, {"fp32", 1, {{"io", "none"}, {"cuda_graph", graph}}});
    EXPECT_EQ(setting(*engine, "io"), "inputs and outputs on the device, nothing is copied");
    std::vector<Tensor> data;
    data.push_back(tensor("x", {1, 4}, std::vector<float>{1, 2, 3, 4}));
    bind(*engine, data);
    const int before = copies();
    for (int i = 0; i < 2; ++i) {
      engine->enqueue(0);
      EXPECT_TRUE(engine->synchronize(0).empty());
      EXPECT_EQ(engine->device_ns(0), 2e6);
    }
    EXPECT_EQ(copies(), before) << graph;
    const auto outputs = engine->fetch_outputs(0);
    EXPECT_EQ(copies(), before + 1) << graph;
    ASSERT_EQ(outputs.size(), 1U);
    const auto* first = static_cast<const float*>(outputs[0].data);
    EXPECT_THAT(std::vector<float>(first, first + 4), ElementsAre(2, 4, 6, 8)) << graph;
  }
}

TEST_F(TensorRtRun, AGraphIsRecordedOnceAndAnswersToNewInputs) {
  (void)build(kModel);
  auto engine = load({1, 4}, {"fp32", 1, {{"cuda_graph", "true"}, {"io", "pinned"}}});
  EXPECT_EQ(setting(*engine, "cuda_graph"), "on");
  std::vector<Tensor> data;
  data.push_back(tensor("x", {1, 4}, std::vector<float>{1, 2, 3, 4}));
  const int before = enqueued();
  for (int i = 0; i < 3; ++i) {
    data[0].as<float>()[0] = static_cast<float>(i);
    bind(*engine, data);
    EXPECT_THAT(run(*engine), ElementsAre(2.0F * static_cast<float>(i), 4, 6, 8)) << i;
  }
  EXPECT_EQ(enqueued() - before, 2);  // plainly, and while it was recorded
  engine.reset();
  EXPECT_EQ(live_allocations(), 0);
}

TEST_F(TensorRtRun, WithoutAGraphEveryInferenceIsEnqueued) {
  (void)build(kModel);
  const auto engine = load({1, 4}, {"fp32", 1, {{"cuda_graph", "false"}}});
  EXPECT_EQ(setting(*engine, "cuda_graph"), "off");
  std::vector<Tensor> data;
  data.push_back(tensor("x", {1, 4}, std::vector<float>(4, 1)));
  bind(*engine, data);
  const int before = enqueued();
  for (int i = 0; i < 3; ++i) (void)run(*engine);
  EXPECT_EQ(enqueued() - before, 3);
  EXPECT_EQ(refusal({1, 4}, {"fp32", 1, {{"cuda_graph", "maybe"}}}).first, ErrorCode::kUsage);
}

TEST_F(TensorRtRun, APlanThatNoGraphHoldsIsRefusedAndTheStreamIsFreeAgain) {
  (void)build(std::string(kModel) + "no_graph\n");
  auto engine = load({1, 4}, {"fp32", 1, {{"cuda_graph", "true"}}});
  std::vector<Tensor> data;
  data.push_back(tensor("x", {1, 4}, std::vector<float>(4, 1)));
  bind(*engine, data);
  const auto [code, text] = error_of([&] { (void)run(*engine); });
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_THAT(text, AllOf(HasSubstr("use cuda_graph: false"), HasSubstr("the recording is broken")));
  EXPECT_NO_THROW((void)engine->synchronize(0));
  engine.reset();
  EXPECT_EQ(live_allocations(), 0);
}

// Not the copies before and behind it, nor the plain run before a recording.
TEST_F(TensorRtRun, TheDevicesClockTimesTheModelAlone) {
  (void)build(std::string(kModel) + "kernel_ms 3\n");
  for (const char* io : {"device", "pinned", "pageable"})
    for (const char* graph : {"false", "true"}) {
      const auto engine = load({1, 4}, {"fp32", 1, {{"io", io}, {"cuda_graph", graph}}});
      EXPECT_TRUE(engine->info().device_clock);
      EXPECT_EQ(engine->device_ns(0), std::nullopt);
      std::vector<Tensor> data;
      data.push_back(tensor("x", {1, 4}, std::vector<float>(4, 1)));
      bind(*engine, data);
      for (int i = 0; i < 2; ++i) {
        (void)run(*engine);
        EXPECT_EQ(engine->device_ns(0), 3e6) << io << " " << graph << " " << i;
      }
    }
}

TEST_F(TensorRtRun, SlotsDoNotShareMemory) {
  (void)build(kModel);
  const auto engine = load({1, 4});
  std::vector<Tensor> first, second;
  first.push_back(tensor("x", {1, 4}, std::vector<float>{1, 1, 1, 1}));
  second.push_back(tensor("x", {1, 4}, std::vector<float>{3, 3, 3, 3}));
  bind(*engine, first, 0);
  bind(*engine, second, 1);
  engine->enqueue(0);
  engine->enqueue(1);
  EXPECT_EQ(*static_cast<const float*>(engine->synchronize(0)[0].data), 2);
  EXPECT_EQ(*static_cast<const float*>(engine->synchronize(1)[0].data), 6);
}

TEST_F(TensorRtRun, EverythingGoesWithTheEngine) {
  (void)build(kModel);
  auto engine = load({1, 4});
  std::vector<Tensor> data;
  data.push_back(tensor("x", {1, 4}, std::vector<float>(4, 1)));
  bind(*engine, data, 0);
  bind(*engine, data, 1);
  // Each has a stream, eight events, activations, input and output on the device and on the host.
  EXPECT_EQ(live_allocations(), 2 * 14);
  engine.reset();
  EXPECT_EQ(live_allocations(), 0);
}

TEST_F(TensorRtRun, TheProfileThatHoldsTheShapesIsChosen) {
  auto with = settings();
  with.profiles.push_back({{"x", {16, 4}, {32, 4}, {64, 4}}});
  (void)build(kModel, with);
  EXPECT_EQ(setting(*load({8, 4}), "profile"), "1 of 2");
  EXPECT_EQ(setting(*load({64, 4}), "profile"), "2 of 2");
}

TEST_F(TensorRtRun, ShapesOutsideEveryProfileAreRefused) {
  (void)build(kModel);
  for (const std::int64_t batch : {9, 100}) {
    const auto [code, text] = refusal({batch, 4});
    EXPECT_EQ(code, ErrorCode::kUsage);
    EXPECT_THAT(text, AllOf(HasSubstr("does not fit this plan"), HasSubstr("'x' [1,4] to [8,4]")));
  }
  EXPECT_THAT(refusal({2, 5}).second, HasSubstr("expects input 'x' float32 [?,4]"));
}

TEST_F(TensorRtRun, AFileThatIsNoPlan) {
  for (const std::string text : {"", "no plan", "another file that is longer than a head"}) {
    (void)write("m.plan", text);
    const auto [code, why] = refusal({1, 4});
    EXPECT_EQ(code, ErrorCode::kData);
    EXPECT_THAT(why, HasSubstr(text.empty() ? "is empty" : "is no plan"));
  }
}

TEST_F(TensorRtRun, APlanOfAnotherVersion) {
  (void)build(kModel);
  auto plan = read("m.plan");
  plan[24] = 8, plan[25] = 6;
  (void)write("m.plan", plan);
  const auto [code, text] = refusal({1, 4});
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_THAT(text, AllOf(HasSubstr("was built by version 8.6.2"),
                          HasSubstr(std::to_string(DOUBLE_VERSION) + ".4.2")));
}

TEST_F(TensorRtRun, ARefusedPlanIsReportedInItsWords) {
  (void)build(std::string(kModel) +
              "load_error [engine.cpp::load::12] Error Code 1: Serialization (checksum differs)\n");
  const auto [code, text] = refusal({1, 4});
  EXPECT_EQ(code, ErrorCode::kData);
  EXPECT_THAT(text, AllOf(HasSubstr("(checksum differs)"), testing::Not(HasSubstr("engine.cpp"))));
}

TEST_F(TensorRtRun, DevicesThatAreNotThere) {
  (void)build(kModel);
  EXPECT_EQ(setting(*load({1, 4}, {"fp32", 1, {{"device", "cuda:1"}}}), "device_name"), "double 1");
  const auto [code, text] = refusal({1, 4}, {"fp32", 1, {{"device", "cuda:2"}}});
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_THAT(text, AllOf(HasSubstr("cuda:2"), HasSubstr("shows 2")));
  EXPECT_EQ(refusal({1, 4}, {"fp32", 1, {{"device", "gpu"}}}).first, ErrorCode::kUsage);
}

TEST_F(TensorRtRun, OutputsWhoseShapeDependsOnTheData) {
  (void)build(std::string(kModel) + "data_dependent\n");
  const auto engine = load({1, 4});
  std::vector<Tensor> data;
  data.push_back(tensor("x", {1, 4}, std::vector<float>(4, 1)));
  const auto [code, text] = error_of([&] { bind(*engine, data); });
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_THAT(text, HasSubstr("output 'y'"));
}

TEST_F(TensorRtRun, LayersAreReadBackAndTimed) {
  (void)build(
      std::string(kModel) +
      R"(inspector {"Layers": [{"Name": "conv1", "LayerType": "CaskConvolution", "Kernel": [3, 3], "OutMaps": 8,)"
      R"( "Groups": 1, "TacticName": "sm80_int8", "Inputs": [{"Dimensions": [1, 4, 10, 10], "Format/Datatype":)"
      R"( "Int8"}], "Outputs": [{"Dimensions": [1, 8, 10, 10], "Format/Datatype": "Int8"}]}]})"
      "\n");
  const auto engine = load({1, 4});
  std::vector<Tensor> data;
  data.push_back(tensor("x", {1, 4}, std::vector<float>(4, 1)));
  bind(*engine, data);
  const auto said = engine->read_back(0);
  ASSERT_EQ(said.precisions.size(), 1U);
  EXPECT_EQ(said.precisions[0].precision, "int8");
  EXPECT_EQ(said.flops, 2.0 * 8 * 100 * 4 * 9);
  const auto times = engine->profile(0, 3).layers;
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].time_ns, 250'000.0);
  EXPECT_EQ(times[0].precision, "int8");
  EXPECT_EQ(times[0].model_layer, "conv1");
}

// The first inference does not count; of the three others one was preempted.
TEST_F(TensorRtRun, TimesOfLayersAreMedians) {
  (void)build(std::string(kModel) + "layer_ms 50 0.5 9 0.25\n" +
              R"(inspector {"Layers": [{"Name": "conv1"}]})" + "\n");
  for (const char* graph : {"false", "true"}) {  // a replay tells the profiler nothing
    const auto engine = load({1, 4}, {"fp32", 1, {{"cuda_graph", graph}}});
    std::vector<Tensor> data;
    data.push_back(tensor("x", {1, 4}, std::vector<float>(4, 1)));
    bind(*engine, data);
    const auto layers = engine->profile(0, 3).layers;
    ASSERT_EQ(layers.size(), 1U);
    EXPECT_EQ(layers[0].time_ns, 500'000.0) << graph;
  }
}

TEST_F(TensorRtRun, SaysWhatItRunsOn) {
  (void)build(kModel);
  const auto engine = load({1, 4});
  EXPECT_EQ(setting(*engine, "library"), "TensorRT");
  EXPECT_EQ(setting(*engine, "device"), "cuda:0");
  EXPECT_EQ(setting(*engine, "compute_capability"), "9.0");
  const auto versions = engine->info().versions;
  EXPECT_EQ(value_of(versions, "TensorRT"), std::to_string(DOUBLE_VERSION) + ".4.2");
  EXPECT_EQ(value_of(versions, "CUDA driver API"), "13.1");  // not the driver's own version, such as 580.82
  EXPECT_EQ(value_of(versions, "CUDA driver"), "(no setting)");
}

}  // namespace
}  // namespace paceline::tensorrt_test
