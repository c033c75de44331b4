// SPDX-License-Identifier: MIT
#include "attach/device_times.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace paceline::attach {
namespace {

// Clock of a device whose work a test puts into its queue, and how far it has come.
struct Queue {
  double enqueued_ms = 0, done_ms = 0;
  bool fails = false;
  int live_events = 0, relaxed = 0;
} queue;

struct FakeGuard final : c10::impl::DeviceGuardImplInterface {
  static constexpr auto kType = c10::DeviceType::PrivateUse1;
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device device) const override { return device; }
  c10::Device getDevice() const override { return {kType, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag flag) const override {
    EXPECT_EQ(flag, c10::EventFlag::BACKEND_DEFAULT);  // the other one has no times
    if (!*event) *event = new double(0), ++queue.live_events;
    *static_cast<double*>(*event) = queue.enqueued_ms;
  }
  bool queryEvent(void* event) const override {
    if (queue.fails) throw std::runtime_error("captured");
    return *static_cast<double*>(event) <= queue.done_ms;
  }
  double elapsedTime(void* first, void* last, c10::DeviceIndex) const override {
    return *static_cast<double*>(last) - *static_cast<double*>(first);
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    if (event) --queue.live_events;
    delete static_cast<double*>(event);
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, FakeGuard)

class DeviceTiming : public testing::Test {
 protected:
  DeviceTiming()
      : path_(std::filesystem::temp_directory_path() / ("device_times_" + std::to_string(::getpid()))) {
    queue = {};
    std::filesystem::remove(path_);
    EXPECT_EQ(writer_.open(path_.string(), {}), "");
  }
  ~DeviceTiming() override { std::filesystem::remove(path_); }

  std::vector<StepRecord> records() const {
    std::ifstream file(path_, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    StepHeader header{};
    std::memcpy(&header, all.data(), sizeof header);
    std::vector<StepRecord> found(header.used);
    std::memcpy(found.data(), all.data() + kRecordsAt, found.size() * kRecordBytes);
    return found;
  }
  // One step with a scope in which the device works.
  void step(DeviceTimes& times, double scope_ms, double rest_ms) {
    const auto ticket = times.begin(7);
    queue.enqueued_ms += scope_ms;
    times.end(ticket);
    queue.enqueued_ms += rest_ms;
    times.step();
  }

  static void relax(bool on) { queue.relaxed += on ? 1 : -1; }

  std::filesystem::path path_;
  StepWriter writer_;
};

TEST_F(DeviceTiming, SpansAreRelatedToEachOtherOnTheDevicesClock) {
  DeviceTimes times(writer_, {FakeGuard::kType, 0}, relax);
  for (int i = 0; i < 6; ++i) {
    step(times, 2, 8);
    queue.done_ms = queue.enqueued_ms;
  }
  const auto found = records();
  ASSERT_EQ(found.size(), 4U);  // the first step has no anchor, the last is not resolved yet
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].kind, static_cast<std::uint8_t>(StepKind::kDevice));
    EXPECT_EQ(found[i].name, 7);
    EXPECT_NEAR(static_cast<double>(found[i].end_ns - found[i].begin_ns), 2e6, 2);
    if (i > 0) {
      EXPECT_NEAR(static_cast<double>(found[i].begin_ns - found[i - 1].begin_ns), 10e6, 4);
    }
  }
  EXPECT_EQ(queue.relaxed, 0);
}

TEST_F(DeviceTiming, NothingIsWrittenBeforeTheDeviceIsThere) {
  DeviceTimes times(writer_, {FakeGuard::kType, 0}, nullptr);
  for (int i = 0; i < 5; ++i) step(times, 1, 1);  // the host runs ahead
  EXPECT_TRUE(records().empty());
  queue.done_ms = queue.enqueued_ms;
  times.step();
  EXPECT_EQ(records().size(), 4U);
}

TEST_F(DeviceTiming, DeviceThatFallsBehindCostsNoMoreEvents) {
  {
    DeviceTimes times(writer_, {FakeGuard::kType, 0}, nullptr);
    for (int i = 0; i < 5000; ++i) step(times, 1, 1);
    EXPECT_LE(queue.live_events, 1024);
    EXPECT_TRUE(times.works());
    for (int i = 0; i < 200; ++i) {
      queue.done_ms = queue.enqueued_ms;
      step(times, 1, 1);
    }
    EXPECT_GT(records().size(), 300U);
  }
  EXPECT_EQ(queue.live_events, 0);
}

TEST_F(DeviceTiming, SpanWithoutAnEndIsGivenUp) {
  DeviceTimes times(writer_, {FakeGuard::kType, 0}, nullptr);
  times.step();
  EXPECT_NE(times.begin(1), DeviceTimes::kNone);
  for (int i = 0; i < 400; ++i) {
    step(times, 1, 1);
    queue.done_ms = queue.enqueued_ms;
  }
  EXPECT_GT(records().size(), 200U);
}

TEST_F(DeviceTiming, FirstFailureEndsIt) {
  DeviceTimes times(writer_, {FakeGuard::kType, 0}, nullptr);
  step(times, 1, 1);
  queue.fails = true;
  step(times, 1, 1);
  EXPECT_FALSE(times.works());
  queue.fails = false;
  EXPECT_EQ(times.begin(1), DeviceTimes::kNone);
}

}  // namespace
}  // namespace paceline::attach
