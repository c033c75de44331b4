// SPDX-License-Identifier: MIT
#include "workload/inference/between_samples.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::workload {
namespace {

// Inference number i takes 100 + i ns on its clock.
class FakeEngine : public plugin::Engine {
 public:
  explicit FakeEngine(bool clock) : clock_(clock) {}
  [[nodiscard]] plugin::EngineInfo info() const override { return {"fake", {}, {}, clock_}; }
  void load(const plugin::ModelSpec&, const plugin::EngineSettings&) override {}
  void bind(plugin::Slot, std::span<const TensorView>) override {}
  void enqueue(plugin::Slot) override { ++runs; }
  [[nodiscard]] std::span<const TensorView> synchronize(plugin::Slot) override { return {}; }
  [[nodiscard]] plugin::ReadBack read_back(plugin::Slot) override { return {}; }
  [[nodiscard]] std::optional<double> device_ns(plugin::Slot) const override { return 100.0 + runs; }
  void flush_caches() override { ++flushes; }
  int runs = 0, flushes = 0;

 private:
  bool clock_;
};

class WithoutFlush : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  void flush_caches() override { plugin::Engine::flush_caches(); }
};

// Samples whose only time is that of the device.
std::vector<DeviceTimes> of_device(const std::vector<std::int64_t>& ns) {
  std::vector<DeviceTimes> times;
  for (const auto value : ns) times.push_back({value});
  return times;
}

// As the loop does: the hook, then the sample.
void run_phase(FakeEngine& engine, const std::function<void(std::int64_t)>& hook, int samples) {
  for (int i = 0; i < samples; ++i) {
    hook(i);
    engine.enqueue(0);
  }
}

TEST(BetweenSamples, EverySampleOfTheLastPhaseHasItsOwnTime) {
  FakeEngine engine(true);
  BetweenSamples between(engine, false);
  const auto hook = between.hook();
  run_phase(engine, hook, 4);  // warm-up
  run_phase(engine, hook, 3);
  EXPECT_EQ(between.take_times(3), of_device({105, 106, 107}));
  EXPECT_EQ(engine.flushes, 0);
}

class WithCopies : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  [[nodiscard]] plugin::PartTimes part_ns(plugin::Slot) const override {
    return {10.4 * runs, 90.0 + runs, {}};
  }
};

TEST(BetweenSamples, CopiesAndEnqueueingAreTheSamplesOwn) {
  for (const bool clock : {true, false}) {
    WithCopies engine(clock);
    std::int64_t enqueue_ns = 0;
    BetweenSamples between(engine, true, {}, &enqueue_ns);
    const auto hook = between.hook();
    for (int i = 0; i < 2; ++i) {
      hook(i);
      engine.enqueue(0);
      enqueue_ns += 7;
    }
    const std::vector<DeviceTimes> expected{{101, 7, 10, 91, {}}, {102, 14, 21, 92, {}}};
    EXPECT_EQ(between.take_times(2), clock ? expected : std::vector<DeviceTimes>(2));
  }
}

TEST(BetweenSamples, ColdCachesAreEmptiedBeforeEverySample) {
  FakeEngine engine(false);
  BetweenSamples between(engine, true);
  run_phase(engine, between.hook(), 3);
  EXPECT_EQ(engine.flushes, 3);
  EXPECT_EQ(between.take_times(3), std::vector<DeviceTimes>(3));
}

TEST(BetweenSamples, WithNothingToDoThereIsNoHook) {
  FakeEngine engine(false);
  EXPECT_FALSE(BetweenSamples(engine, false).hook());
}

TEST(BetweenSamples, AnEngineThatCannotEmptyCachesSaysSo) {
  WithoutFlush engine(false);
  BetweenSamples between(engine, true);
  const auto hook = between.hook();
  try {
    hook(0);
    FAIL() << "cold caches were promised";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    EXPECT_STREQ(e.what(), "engine 'fake' cannot empty the caches; use cache_mode: warm");
  }
}

// The time of the last sample is read before the next inputs are bound.
TEST(BetweenSamples, InputsAreFedBeforeEverySampleAndAfterTheClock) {
  FakeEngine engine(true);
  int fed = 0;
  BetweenSamples between(engine, true, [&] {
    EXPECT_EQ(engine.flushes, fed);
    engine.runs += 1000;
    ++fed;
  });
  run_phase(engine, between.hook(), 3);
  EXPECT_EQ(fed, 3);
  EXPECT_EQ(between.take_times(3), of_device({1101, 2102, 3103}));
}

}  // namespace
}  // namespace paceline::workload
