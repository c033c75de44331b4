// SPDX-License-Identifier: MIT
// The double of the driver itself: contexts per thread, work in the order of its stream, events on the
// device's clock. The other tests rely on it.
#include "tensorrt/driver.h"

#include <dlfcn.h>

#include <array>
#include <new>
#include <optional>
#include <thread>

#include "plugin/tensorrt/double_test.h"

namespace paceline::tensorrt_test {
namespace {

using tensorrt_plugin::Context;
using tensorrt_plugin::DevicePointer;
using tensorrt_plugin::Driver;
using tensorrt_plugin::Event;
using tensorrt_plugin::Graph;
using tensorrt_plugin::Stream;

constexpr int kInvalidValue = 1, kInvalidContext = 201, kInvalidHandle = 400, kNotReady = 600;
constexpr int kNotWhileRecording = 900, kRecordedEvent = 907;
constexpr int kThreadLocal = 1;

template <typename Function>
Function* call(const char* name) {
  void* handle = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(::dlsym(handle, name));
}

int query(Event event) {
  return call<int(Event)>("cuEventQuery")(event);
}

// The reason of a case that needs too much memory is oom, wherever the memory is.
TEST(DriverErrors, MemoryOfADeviceThatIsUsedUpIsOutOfMemory) {
  EXPECT_NO_THROW(tensorrt_plugin::check(0, "allocating"));
  EXPECT_THROW(tensorrt_plugin::check(2, "allocating"), std::bad_alloc);
}

// Device 0 in use, two streams, two events, some memory.
class DriverDouble : public Double {
 protected:
  void SetUp() override {
    driver_.emplace(tensorrt_plugin::open_driver("libcuda.so.1"));
    ASSERT_EQ(driver_->init(0), 0);
    use(0);
    for (auto& stream : streams_) ASSERT_EQ(driver_->make_stream(&stream, 0), 0);
    for (auto& event : events_) ASSERT_EQ(driver_->make_event(&event, 0), 0);
    ASSERT_EQ(driver_->allocate(&memory_, sizeof host_), 0);
    void* pinned = nullptr;
    ASSERT_EQ(driver_->allocate_pinned(&pinned, sizeof host_), 0);
    pinned_ = static_cast<float*>(pinned);
  }
  void TearDown() override {
    use(0);
    for (auto* stream : streams_) (void)driver_->free_stream(stream);
    for (auto* event : events_) (void)driver_->free_event(event);
    (void)driver_->release_pinned(pinned_);
    (void)driver_->release(memory_);
    Double::TearDown();
  }
  void use(int device) const {
    Context context = nullptr;
    ASSERT_EQ(driver_->retain_context(&context, device), 0);
    ASSERT_EQ(driver_->set_context(context), 0);
  }
  [[nodiscard]] int record(int event, int stream) const {
    return driver_->record_event(events_.at(static_cast<std::size_t>(event)),
                                 streams_.at(static_cast<std::size_t>(stream)));
  }
  // A copy takes half a millisecond.
  [[nodiscard]] int copy(int stream) const {
    return driver_->copy_to_host(pinned_, memory_, sizeof host_,
                                 streams_.at(static_cast<std::size_t>(stream)));
  }
  [[nodiscard]] float elapsed() const {
    float ms = -1;
    EXPECT_EQ(driver_->elapsed_ms(&ms, events_[0], events_[1]), 0);
    return ms;
  }

  std::optional<Driver> driver_;
  std::array<Stream, 2> streams_{};
  std::array<Event, 2> events_{};
  DevicePointer memory_ = 0;
  std::array<float, 4> host_{1, 2, 3, 4};
  float* pinned_ = nullptr;
};

TEST_F(DriverDouble, AnEventHasTheTimeOfItsPlaceInTheStream) {
  EXPECT_EQ(copy(0), 0);
  EXPECT_EQ(record(0, 0), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(copy(0), 0);
  EXPECT_EQ(record(1, 0), 0);
  EXPECT_EQ(copy(0), 0);
  EXPECT_EQ(driver_->wait_for_stream(streams_[0]), 0);
  EXPECT_EQ(elapsed(), 1.5F);
}

TEST_F(DriverDouble, EventsAreNotReadyBeforeTheirStreamIsWaitedFor) {
  float ms = 0;
  EXPECT_EQ(driver_->elapsed_ms(&ms, events_[0], events_[1]), kInvalidHandle);  // never recorded
  EXPECT_EQ(query(events_[0]), 0);
  EXPECT_EQ(record(0, 0), 0);
  EXPECT_EQ(record(1, 0), 0);
  EXPECT_EQ(query(events_[0]), kNotReady);
  EXPECT_EQ(driver_->elapsed_ms(&ms, events_[0], events_[1]), kNotReady);
  EXPECT_EQ(driver_->wait_for_stream(streams_[1]), 0);  // the other one
  EXPECT_EQ(query(events_[0]), kNotReady);
  EXPECT_EQ(driver_->wait_for_stream(streams_[0]), 0);
  EXPECT_EQ(query(events_[0]), 0);
  EXPECT_EQ(elapsed(), 0);
}

TEST_F(DriverDouble, AStreamWaitsForAnEventOfAnother) {
  const auto wait = call<int(Stream, Event, unsigned)>("cuStreamWaitEvent");
  EXPECT_EQ(record(0, 1), 0);  // at the start
  for (int i = 0; i < 4; ++i) EXPECT_EQ(copy(0), 0);
  Event between = nullptr;
  EXPECT_EQ(driver_->make_event(&between, 0), 0);
  EXPECT_EQ(driver_->record_event(between, streams_[0]), 0);
  EXPECT_EQ(copy(0), 0);
  EXPECT_EQ(wait(streams_[1], between, 0), 0);
  EXPECT_EQ(record(1, 1), 0);
  EXPECT_EQ(driver_->wait_for_stream(streams_[1]), 0);
  EXPECT_EQ(elapsed(), 2.0F);  // four copies, not the fifth
  EXPECT_EQ(query(between), 0);
  EXPECT_EQ(driver_->wait_for_stream(streams_[0]), 0);
  EXPECT_EQ(driver_->free_event(between), 0);
}

TEST_F(DriverDouble, AThreadNeedsAContextOfItsOwn) {
  std::thread([&] {
    Stream stream = nullptr;
    DevicePointer memory = 0;
    float ms = 0;
    EXPECT_EQ(driver_->make_stream(&stream, 0), kInvalidContext);
    EXPECT_EQ(driver_->allocate(&memory, 4), kInvalidContext);
    EXPECT_EQ(driver_->wait_for_stream(streams_[0]), kInvalidContext);
    EXPECT_EQ(record(0, 0), kInvalidContext);
    EXPECT_EQ(copy(0), kInvalidContext);
    EXPECT_EQ(driver_->elapsed_ms(&ms, events_[0], events_[1]), kInvalidContext);
    EXPECT_EQ(driver_->release(memory_), kInvalidContext);
    use(0);
    EXPECT_EQ(copy(0), 0);
    EXPECT_EQ(driver_->wait_for_stream(streams_[0]), 0);
  }).join();
}

TEST_F(DriverDouble, StreamsTakeWorkOfTheirOwnDeviceOnly) {
  use(1);
  EXPECT_EQ(copy(0), kInvalidHandle);
  EXPECT_EQ(record(0, 0), kInvalidHandle);
  EXPECT_EQ(driver_->wait_for_stream(streams_[0]), 0);
}

TEST_F(DriverDouble, CopiesStayInsideTheirMemory) {
  std::array<float, 8> longer{};
  EXPECT_EQ(driver_->copy_to_host(longer.data(), memory_, sizeof longer, streams_[0]), kInvalidValue);
  EXPECT_EQ(driver_->copy_to_device(memory_ + 4, host_.data(), sizeof host_, streams_[0]), kInvalidValue);
  EXPECT_EQ(driver_->copy_to_device(reinterpret_cast<DevicePointer>(pinned_), host_.data(), 4, streams_[0]),
            kInvalidValue);
}

TEST_F(DriverDouble, PinnedMemoryIsReadWhenTheStreamComesToItAndPageableAtOnce) {
  const auto sent = [&](float* from) {
    from[0] = 5;
    EXPECT_EQ(driver_->copy_to_device(memory_, from, sizeof host_, streams_[0]), 0);
    from[0] = 6;
    std::array<float, 4> back{};
    EXPECT_EQ(driver_->copy_to_host(back.data(), memory_, sizeof back, streams_[0]), 0);
    return back[0];
  };
  EXPECT_EQ(sent(host_.data()), 5);
  EXPECT_EQ(sent(pinned_), 6);
}

TEST_F(DriverDouble, MemoryThatIsInUseIsNotFreed) {
  DevicePointer memory = 0;
  EXPECT_EQ(driver_->allocate(&memory, 4), 0);
  EXPECT_EQ(driver_->copy_to_host(pinned_, memory, 4, streams_[0]), 0);
  EXPECT_EQ(DoubleState::misuse(), "");
  EXPECT_EQ(driver_->release(memory), 0);
  EXPECT_THAT(DoubleState::misuse(), HasSubstr("freed while work"));
  DoubleState::reset();
  is_device_lost_ = true;  // what was counted before is forgotten
}

TEST_F(DriverDouble, ARecordingAllowsLittleAndItsEventsHaveNoTime) {
  Graph graph = nullptr;
  EXPECT_EQ(driver_->begin_capture(streams_[0], kThreadLocal), 0);
  EXPECT_EQ(record(0, 0), 0);
  EXPECT_EQ(driver_->end_capture(streams_[0], &graph), 0);
  float ms = 0;
  EXPECT_EQ(driver_->elapsed_ms(&ms, events_[0], events_[0]), kRecordedEvent);
  EXPECT_EQ(driver_->free_graph(graph), 0);

  EXPECT_EQ(driver_->begin_capture(streams_[0], kThreadLocal), 0);
  DevicePointer memory = 0;
  EXPECT_EQ(driver_->allocate(&memory, 4), kNotWhileRecording);
  EXPECT_NE(driver_->end_capture(streams_[0], &graph), 0);
  EXPECT_EQ(graph, nullptr);
}

}  // namespace
}  // namespace paceline::tensorrt_test
