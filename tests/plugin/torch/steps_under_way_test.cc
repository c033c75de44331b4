// SPDX-License-Identifier: MIT
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "torch/training/queued_steps.h"

// Steps on a device that works on its own, with a double of the device: a queue whose work advances a clock.
namespace paceline::torch_plugin {
namespace {

using plugin::StepPhase;

// The device: every piece of work takes its time when the device gets there, not when it is handed over.
struct FakeDevice {
  std::int64_t host_ns = 0;    // the clock, as the host moves it
  std::int64_t device_ns = 0;  // when the device will be done with what it has
  int waits = 0;
  void work(std::int64_t ns) { device_ns = std::max(device_ns, host_ns) + ns; }
};

struct FakeMark {
  using Place = FakeDevice*;
  explicit FakeMark(Place where) : device(where) {}
  void set() { at_ns = std::max(device->device_ns, device->host_ns); }
  void wait() const {
    ++device->waits;
    device->host_ns = std::max(device->host_ns, at_ns);
  }
  [[nodiscard]] bool reached() const { return at_ns <= device->host_ns; }
  [[nodiscard]] double ns_since(const FakeMark& earlier) const {
    EXPECT_TRUE(reached() && earlier.reached()) << "a mark is read that the device has not reached";
    return static_cast<double>(at_ns - earlier.at_ns);
  }
  Place device;
  std::int64_t at_ns = 0;
};

struct FakeRuntime {
  using Mark = FakeMark;
  FakeDevice* device;
  [[nodiscard]] FakeDevice* place() const { return device; }
  [[nodiscard]] at::Tensor host_memory(const at::Tensor& like) const { return at::zeros_like(like); }
  [[nodiscard]] at::Tensor device_memory(const at::Tensor& like) const { return at::zeros_like(like); }
  static void copy_beside(const at::Tensor& into, const at::Tensor& from) { into.copy_(from); }
  static void copy_back(const at::Tensor& into, const at::Tensor& from) { into.copy_(from); }
};

class Heard : public plugin::StepRecorder {
 public:
  void enter(StepPhase phase) override { text += std::to_string(static_cast<int>(phase)); }
  void launched(int, std::int64_t) override { text += 'l'; }
  void finished(int) override { text += 'f'; }
  std::string text;
};

class StepsOnADevice : public testing::Test {
 protected:
  // The host needs 1 ns for a call, the device 100 for a step: 10 input, 30 forward, 40 backward and 20 at
  // the end, of which 5 are waited for a collective.
  void hand_over(double loss, std::int64_t data_wait_ns = 0) {
    steps.open();
    device.host_ns += data_wait_ns;
    steps.begin(heard);
    part(StepPhase::kInput, 10);
    part(StepPhase::kForward, 30);
    part(StepPhase::kBackward, 40);
    steps.launched(0, 64);
    part(StepPhase::kCommunication, 5);
    steps.finished(0);
    part(StepPhase::kOptimizer, 15);
    steps.end(at::full({1}, loss));
  }
  void part(StepPhase phase, std::int64_t ns) {
    steps.enter(phase);
    device.host_ns += 1;
    device.work(ns);
  }
  FakeDevice device;
  QueuedSteps<FakeRuntime> steps{FakeRuntime{&device}};
  Heard heard;
};

TEST_F(StepsOnADevice, TheHostWaitsForTheStepBeforeOnly) {
  hand_over(1);
  EXPECT_EQ(device.waits, 0);
  hand_over(2);
  EXPECT_EQ(steps.count(), 2U);
  EXPECT_EQ(steps.wait_for_oldest().figures.item<float>(), 1);
  EXPECT_EQ(device.waits, 1);
  EXPECT_LT(device.host_ns, device.device_ns) << "the second is still under way";
  EXPECT_EQ(steps.wait_for_oldest().figures.item<float>(), 2);
  EXPECT_EQ(steps.count(), 0U);
}

TEST_F(StepsOnADevice, PartsAreTheDevicesTimesWhateverTheHostWasAt) {
  hand_over(1);
  hand_over(2);
  steps.wait_for_oldest();
  hand_over(3);
  const auto times = steps.wait_for_oldest().times;  // of the second, handed over in 5 ns
  EXPECT_EQ(times.step_ns, 100);
  EXPECT_EQ(times.data_wait_ns, 0);
  EXPECT_EQ(times.phase_ns, (std::array<std::int64_t, 5>{10, 30, 40, 5, 15}));
  ASSERT_EQ(times.buckets.size(), 1U);
  EXPECT_EQ(times.buckets[0].bytes, 64);
  EXPECT_EQ(times.buckets[0].launched_ns, 80);
  EXPECT_EQ(times.buckets[0].finished_ns, 85);
  EXPECT_EQ(heard.text, "012l3f45012l3f45012l3f45") << "the host's recorder hears of everything, too";
}

TEST_F(StepsOnADevice, OnlyDataThatTheDeviceWaitedForCount) {
  hand_over(1);
  hand_over(2, /*data_wait_ns=*/60);  // beside the first step
  hand_over(3, /*data_wait_ns=*/500);
  steps.wait_for_oldest();
  EXPECT_EQ(steps.wait_for_oldest().times.data_wait_ns, 0);
  hand_over(4);
  const auto third = steps.wait_for_oldest().times;
  EXPECT_GT(third.data_wait_ns, 300);
  EXPECT_EQ(third.step_ns, third.data_wait_ns + 101)
      << "the device had to wait for the first call of the host";
}

TEST_F(StepsOnADevice, WorkBetweenStepsBelongsToNoStep) {
  hand_over(1);
  steps.wait_for_oldest();
  device.host_ns += 10'000;  // a checkpoint
  hand_over(2);
  EXPECT_EQ(steps.wait_for_oldest().times.step_ns, 101) << "the call that handed over the input is in it";
}

TEST_F(StepsOnADevice, AnUnreportedEndIsMissing) {
  steps.open();
  steps.begin(heard);
  steps.enter(StepPhase::kBackward);
  steps.launched(0, 8);
  steps.launched(1, 8);
  steps.finished(1);
  steps.end(at::zeros({1}));
  const auto buckets = steps.wait_for_oldest().times.buckets;
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_FALSE(buckets[0].finished_ns);
  EXPECT_TRUE(buckets[1].finished_ns);
}

TEST_F(StepsOnADevice, InputsOfAStepUnderWayAreNotOverwritten) {
  std::vector<at::Tensor> sent;
  for (float value : {1.0F, 2.0F, 3.0F}) {
    if (steps.count() == 2) steps.wait_for_oldest();
    steps.open();
    steps.begin(heard);
    auto batch = at::full({4}, value);
    sent.push_back(steps.send(batch));
    batch.fill_(-1);  // the caller's again
    steps.enter(StepPhase::kInput);
    steps.end(at::zeros({1}));
  }
  EXPECT_EQ(sent[1].sum().item<float>(), 8);
  EXPECT_EQ(sent[2].sum().item<float>(), 12);
  EXPECT_EQ(sent[2].data_ptr(), sent[0].data_ptr()) << "places are taken in turns";
  EXPECT_NE(sent[1].data_ptr(), sent[0].data_ptr());
}

}  // namespace
}  // namespace paceline::torch_plugin
