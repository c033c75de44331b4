// SPDX-License-Identifier: MIT
// Every way of timing, against the double's virtual clock.
#include <cmath>

#include "measure/timed_loop.h"
#include "plugin/tensorrt/double_test.h"

namespace paceline::tensorrt_test {
namespace {

using measure::LoopConfig;
using measure::LoopResult;
using model_files_test::bind;
using model_files_test::tensor;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr double kMs = 1e6;

// The virtual clock in ns.
struct DoubleClock : protected DoubleState {
  [[nodiscard]] std::int64_t now_ns() const { return std::llround(host_ms() * kMs); }
};

// A copy takes 0.5 ms, a kernel 3; what starting one takes the host is said by the test.
class TensorRtTiming : public Double, protected DoubleState {
 protected:
  std::unique_ptr<plugin::Engine> bound(const std::string& launch_ms, const char* io, const char* graph,
                                        const char* overlap = "false", const std::string& kernel_ms = "3") {
    (void)build(std::string(kModel) + "kernel_ms " + kernel_ms + "\nlaunch_ms " + launch_ms + "\n");
    auto engine = load({1, 4}, {"fp32", 1, {{"io", io}, {"cuda_graph", graph}, {"overlap", overlap}}});
    data_.push_back(tensor("x", {1, 4}, std::vector<float>{1, 2, 3, 4}));
    bind(*engine, data_);
    return engine;
  }

  LoopResult time(plugin::Engine& engine, bool pipelined) {
    LoopConfig config;
    config.warmup.mode = stats::WarmupMode::kFixed;
    config.warmup.fixed_iterations = 2;
    config.iterations = 5;
    config.pipelined = pipelined;
    measure::AloneDecider decider(config.warmup, config.stop, config.iterations);
    auto block = [&](std::int64_t count) {
      const auto begin = clock_.now_ns();
      for (std::int64_t i = 0; i < count; ++i) engine.enqueue(0);
      enqueue_ns_ = clock_.now_ns() - begin;
      outputs_ = engine.synchronize(0);
    };
    auto one = [&] { block(1); };
    return pipelined ? run_timed_loop(clock_, block, config, {}, decider)
                     : run_timed_loop(clock_, one, config, {}, decider);
  }

  [[nodiscard]] std::vector<float> values() const {
    if (outputs_.empty()) return {};
    const auto* first = static_cast<const float*>(outputs_[0].data);
    return {first, first + 4};
  }

  DoubleClock clock_;
  std::vector<Tensor> data_;
  std::int64_t enqueue_ns_ = 0;
  std::span<const TensorView> outputs_;
};

TEST_F(TensorRtTiming, OneAtATimeIsTheSumOfItsParts) {
  const auto engine = bound("1", "pinned", "false");
  const auto result = time(*engine, false);
  EXPECT_THAT(result.samples_ns(), Each(0.5 * kMs + 0.5 * kMs + 3 * kMs + 0.5 * kMs));
  EXPECT_EQ(enqueue_ns_, 1 * kMs);
  EXPECT_EQ(engine->device_ns(0), 3.5 * kMs);  // the host is half a ms late with the kernel
  EXPECT_EQ(engine->part_ns(0).inputs_ns, 0.5 * kMs);
  EXPECT_EQ(engine->part_ns(0).outputs_ns, 0.5 * kMs);
  EXPECT_THAT(values(), ElementsAre(2, 4, 6, 8));
}

// Only the first start of a block is waited for; copies and kernels of one stream follow each other.
TEST_F(TensorRtTiming, PipeliningHidesTheStartsOfAllButTheFirst) {
  for (const char* graph : {"false", "true"}) {
    const auto engine = bound("1", "device", graph);
    const double launch = std::string(graph) == "false" ? 1 : 0;  // a replay is for nothing here
    const auto one = time(*engine, false);
    EXPECT_THAT(one.samples_ns(), Each((launch + 3.5) * kMs));
    EXPECT_EQ(engine->device_ns(0), (launch + 3) * kMs);
    const auto block = time(*engine, true);
    EXPECT_EQ(block.batch, 16);
    EXPECT_THAT(block.samples_ns(), Each((launch + 16 * 3.5) * kMs / 16));
    EXPECT_EQ(enqueue_ns_, 16 * launch * kMs);
    EXPECT_EQ(engine->device_ns(0), (launch + 16 * 3.5 - 0.5) * kMs);
    EXPECT_EQ(engine->part_ns(0).outputs_ns, 0.5 * kMs);
    EXPECT_EQ(engine->part_ns(0).inputs_ns, std::nullopt);
    EXPECT_THAT(values(), ElementsAre(2, 4, 6, 8));
    data_.clear();
  }
}

// Every inference of a block copies its inputs and outputs, as a single one does.
TEST_F(TensorRtTiming, ABlockHasAllCopies) {
  const auto engine = bound("0", "pinned", "false");
  const int before = copies();
  for (int i = 0; i < 3; ++i) engine->enqueue(0);
  outputs_ = engine->synchronize(0);
  EXPECT_EQ(copies() - before, 6);
  EXPECT_EQ(engine->device_ns(0), (3 * 3 + 2 * (0.5 + 0.5)) * kMs);
  EXPECT_EQ(engine->part_ns(0).inputs_ns, 0.5 * kMs);
  EXPECT_EQ(engine->part_ns(0).model_ns, 3 * kMs);
  EXPECT_THAT(values(), ElementsAre(2, 4, 6, 8));
}

TEST_F(TensorRtTiming, AHostThatStartsTooSlowlyDecides) {
  const auto engine = bound("5", "device", "false");
  EXPECT_THAT(time(*engine, false).samples_ns(), Each(8.5 * kMs));
  EXPECT_THAT(time(*engine, true).samples_ns(), Each((16 * 5 + 3.5) * kMs / 16));
}

TEST_F(TensorRtTiming, WithoutCopiesThereAreNoTimesOfThem) {
  const auto engine = bound("1", "none", "false");
  EXPECT_THAT(time(*engine, true).samples_ns(), Each((1 + 32 * 3) * kMs / 32));
  EXPECT_EQ(engine->device_ns(0), (1 + 32 * 3) * kMs);
  EXPECT_EQ(engine->part_ns(0).inputs_ns, std::nullopt);
  EXPECT_EQ(engine->part_ns(0).outputs_ns, std::nullopt);
}

// The first copy to the device and the last one to the host have nothing beside them.
TEST_F(TensorRtTiming, OverlappingCopiesTakeNoTimeOfTheirOwn) {
  for (const char* graph : {"false", "true"}) {
    const auto engine = bound("0", "pinned", graph, "true");
    EXPECT_THAT(time(*engine, false).samples_ns(), Each((0.5 + 3 + 0.5) * kMs));
    const auto block = time(*engine, true);
    EXPECT_THAT(block.samples_ns(), Each((0.5 + 32 * 3 + 0.5) * kMs / 32)) << graph;
    EXPECT_EQ(engine->device_ns(0), 32 * 3 * kMs);
    EXPECT_EQ(engine->part_ns(0).inputs_ns, 0.5 * kMs);
    EXPECT_EQ(engine->part_ns(0).model_ns, 3 * kMs);
    EXPECT_EQ(engine->part_ns(0).outputs_ns, 0.5 * kMs);
    EXPECT_THAT(values(), ElementsAre(2, 4, 6, 8)) << graph;
    data_.clear();
  }
}

// Models wait for their inputs, or for their memory: the last one for the outputs of the last but one before.
TEST_F(TensorRtTiming, CopiesThatTakeLongerThanTheModelDecide) {
  for (const auto& [io, device_ms] :
       {std::pair{"pinned", 7 * 0.5 + 0.25}, {"device", 0.25 + 6 * 0.5 + 0.25}}) {
    const auto engine = bound("0", io, "false", "true", "0.25");
    for (int i = 0; i < 8; ++i) engine->enqueue(0);
    outputs_ = engine->synchronize(0);
    EXPECT_EQ(engine->device_ns(0), device_ms * kMs) << io;
    EXPECT_THAT(values(), ElementsAre(2, 4, 6, 8)) << io;
    data_.clear();
  }
}

// Memory of an inference is not used again before its copies are over: with other inputs in between, each
// answer is that of its own inputs.
TEST_F(TensorRtTiming, BothMemoriesAnswerToNewInputs) {
  const auto engine = bound("0", "pinned", "false", "true", "0.25");
  for (const int count : {1, 2, 3, 5}) {
    data_[0].as<float>()[0] = static_cast<float>(count);
    bind(*engine, data_);
    for (int i = 0; i < count; ++i) engine->enqueue(0);
    outputs_ = engine->synchronize(0);
    EXPECT_THAT(values(), ElementsAre(2.0F * static_cast<float>(count), 4, 6, 8)) << count;
  }
}

// Symptoms of an engine that forgets to wait: times without the device's, garbage, no event.
TEST_F(TensorRtTiming, AMissingWaitIsSeen) {
  for (const bool pipelined : {false, true}) {
    const auto engine = bound("1", "device", "false");
    lose_waits(true);
    const auto result = time(*engine, pipelined);
    EXPECT_THAT(result.samples_ns(), Each(1 * kMs));
    EXPECT_THAT(values(), Each(::testing::IsNan()));
    EXPECT_THAT(error_of([&] { (void)engine->device_ns(0); }).second, HasSubstr("not ready"));
    EXPECT_THAT(error_of([&] { (void)engine->part_ns(0); }).second, HasSubstr("not ready"));
    lose_waits(false);
    outputs_ = engine->synchronize(0);
    EXPECT_THAT(values(), ElementsAre(2, 4, 6, 8));
    data_.clear();
  }
}

}  // namespace
}  // namespace paceline::tensorrt_test
