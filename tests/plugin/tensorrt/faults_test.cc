// SPDX-License-Identifier: MIT
// Plans on other threads and devices, errors that come late, calls that the library refuses.
#include <thread>

#include "plugin/tensorrt/double_test.h"

namespace paceline::tensorrt_test {
namespace {

using model_files_test::bind;
using model_files_test::run;
using model_files_test::tensor;
using testing::ElementsAre;

class TensorRtFaults : public Double, protected DoubleState {
 protected:
  void SetUp() override { data_.push_back(tensor("x", {1, 4}, std::vector<float>{1, 2, 3, 4})); }
  std::unique_ptr<plugin::Engine> bound(const std::string& device = "cuda:0",
                                        const std::string& graph = "false") {
    auto engine = load({1, 4}, {"fp32", 1, {{"device", device}, {"cuda_graph", graph}}});
    bind(*engine, data_);
    return engine;
  }
  std::vector<Tensor> data_;
};

const auto kOnAThread = [](auto&& work) { std::thread(work).join(); };

TEST_F(TensorRtFaults, EveryCallUsesTheDeviceByItself) {
  (void)build(std::string(kModel) + R"(inspector {"Layers": [{"Name": "conv1"}]})" + "\n");
  const auto engine = load({1, 4}, {"fp32", 1, {{"device", "cuda:1"}}});
  kOnAThread([&] { EXPECT_NO_THROW(bind(*engine, data_)); });
  kOnAThread([&] { EXPECT_NO_THROW(engine->enqueue(0)); });
  kOnAThread([&] { EXPECT_NO_THROW((void)engine->synchronize(0)); });
  kOnAThread([&] { EXPECT_EQ(error_of([&] { EXPECT_EQ(engine->device_ns(0), 2e6); }).second, ""); });
  kOnAThread([&] { EXPECT_NO_THROW((void)engine->read_back(0)); });
  kOnAThread([&] { EXPECT_NO_THROW((void)engine->profile(0, 2)); });
}

TEST_F(TensorRtFaults, TwoDevicesTakeTurnsInOneThread) {
  (void)build(kModel);
  const auto first = bound("cuda:0"), second = bound("cuda:1");
  for (int i = 0; i < 2; ++i)
    for (const auto* engine : {&first, &second}) {
      EXPECT_THAT(run(**engine), ElementsAre(2, 4, 6, 8));
      EXPECT_EQ((*engine)->device_ns(0), 2e6);
    }
}

TEST_F(TensorRtFaults, NothingIsLeftWhenAnotherThreadEndsIt) {
  (void)build(kModel);
  auto engine = bound("cuda:1", "true");
  (void)run(*engine);
  kOnAThread([&] { engine.reset(); });
  EXPECT_EQ(live_allocations(), 0);
}

TEST_F(TensorRtFaults, NothingIsLeftWhenItIsLoadedOnAnotherDevice) {
  (void)build(kModel);
  const auto engine = bound("cuda:1");
  kOnAThread([&] {
    plugin::ModelSpec model;
    model.file = folder_.file("m.plan");
    model.inputs = {{"x", DType::kFloat32, {1, 4}}};
    plugin::EngineSettings on_first;
    on_first.options = {{"device", "cuda:0"}};
    engine->load(model, on_first);
    EXPECT_EQ(live_allocations(), 0);
  });
}

TEST_F(TensorRtFaults, WaitsForRunningWorkAtTheEnd) {
  (void)build(kModel);
  auto engine = bound();
  engine->enqueue(0);
  engine.reset();
  EXPECT_EQ(misuse(), "");
  EXPECT_EQ(live_allocations(), 0);
}

TEST_F(TensorRtFaults, ALateErrorIsReportedByTheWait) {
  (void)build(std::string(kModel) + "kernel_error 719 2\n");
  for (const char* graph : {"false", "true"}) {
    reset();
    auto engine = bound("cuda:0", graph);
    if (std::string(graph) == "false") (void)run(*engine);  // a graph has one more before it
    EXPECT_NO_THROW(engine->enqueue(0)) << graph;
    const auto [code, text] = error_of([&] { (void)engine->synchronize(0); });
    EXPECT_EQ(code, ErrorCode::kInternal) << graph;
    EXPECT_THAT(text, AllOf(HasSubstr("the model cannot run"), HasSubstr("CUDA error 719"),
                            HasSubstr("launch failure")))
        << graph;
    EXPECT_EQ(error_of([&] { engine->enqueue(0); }).first, ErrorCode::kInternal) << graph;
  }
  is_device_lost_ = true;
}

TEST_F(TensorRtFaults, AFailedEnqueueIsReportedInTheLibrarysWords) {
  (void)build(std::string(kModel) + "refuse_enqueue 2\n");
  const auto engine = bound();
  (void)run(*engine);
  const auto [code, text] = error_of([&] { engine->enqueue(0); });
  EXPECT_EQ(code, ErrorCode::kInternal);
  EXPECT_THAT(text, AllOf(HasSubstr("cannot run on these inputs"), HasSubstr("not this time")));
  EXPECT_THAT(run(*engine), ElementsAre(2, 4, 6, 8));
}

// A context that kept the profiler would call it in later inferences, when it is gone.
TEST_F(TensorRtFaults, TheProfilerGoesWithAPassThatFails) {
  (void)build(std::string(kModel) + "refuse_enqueue 2\n");
  const auto engine = bound();
  EXPECT_EQ(error_of([&] { (void)engine->profile(0, 3); }).first, ErrorCode::kInternal);
  ASSERT_EQ(profilers(), 0);
  EXPECT_THAT(run(*engine), ElementsAre(2, 4, 6, 8));
}

TEST_F(TensorRtFaults, ReportsAnInspectorWithoutText) {
  (void)build(std::string(kModel) + "inspector none\n");
  const auto engine = bound();
  const auto [code, text] = error_of([&] { (void)engine->read_back(0); });
  EXPECT_EQ(code, ErrorCode::kData);
  EXPECT_THAT(text, HasSubstr("the engine inspector has no text"));
}

}  // namespace
}  // namespace paceline::tensorrt_test
