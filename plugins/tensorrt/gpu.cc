// SPDX-License-Identifier: MIT
#include "tensorrt/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/device.h"
#include "base/error.h"

namespace paceline::tensorrt_plugin {
namespace {

constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76;  // CUdevice_attribute
constexpr unsigned kNonBlocking = 1;    // of streams: they do not wait for the default stream
constexpr int kCaptureThreadLocal = 1;  // other threads may call CUDA during a capture

int device_index(const std::string& device) {
  const auto wanted = parse_device(device);
  if (!wanted || wanted->kind != DeviceKind::kCuda)
    throw Error(ErrorCode::kUsage, fmt::format("'{}' is no CUDA device; write cuda or cuda:1", device));
  int count = 0;
  check(driver().device_count(&count), "cannot count the devices");
  if (wanted->index >= count)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("there is no device {}; the driver shows {}", device, count));
  return wanted->index;
}

int attribute(int which, int device) {
  int value = 0;
  check(driver().device_attribute(&value, which, device), "cannot ask the device");
  return value;
}

// The library refuses null for memory, also for an empty tensor.
std::size_t at_least_one(std::size_t bytes) {
  return std::max<std::size_t>(bytes, 1);
}

}  // namespace

// A CUdevice is its index.
Gpu::Gpu(const std::string& device) : index_(device_index(device)) {
  std::array<char, 256> name{};
  check(driver().device_name(name.data(), static_cast<int>(name.size()), index_), "cannot ask the device");
  name_ = name.data();
  capability_ =
      fmt::format("{}.{}", attribute(kCapabilityMajor, index_), attribute(kCapabilityMinor, index_));
  check(driver().retain_context(&context_, index_), fmt::format("cannot use device {}", device));
  use();
}

void Gpu::use() const {
  check(driver().set_context(context_), "cannot use the device");
}

void Gpu::use_if_possible() const noexcept {
  (void)driver().set_context(context_);
}

DeviceBuffer::DeviceBuffer(std::size_t bytes) {
  check(driver().allocate(&memory_, at_least_one(bytes)), fmt::format("no {} bytes on the device", bytes));
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(memory_, other.memory_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (memory_) (void)driver().release(memory_);
}

PinnedBuffer::PinnedBuffer(std::size_t bytes) {
  check(driver().allocate_pinned(&memory_, at_least_one(bytes)),
        fmt::format("no {} bytes of pinned memory", bytes));
}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(memory_, other.memory_);
  return *this;
}

PinnedBuffer::~PinnedBuffer() {
  if (memory_) (void)driver().release_pinned(memory_);
}

HostBuffer::HostBuffer(std::size_t bytes, bool pinned)
    : pinned_(pinned ? PinnedBuffer(bytes) : PinnedBuffer()),
      pageable_(pinned ? nullptr : std::make_unique<std::byte[]>(at_least_one(bytes))),
      memory_(pinned ? pinned_.get() : pageable_.get()) {}

OwnedStream::OwnedStream() {
  check(driver().make_stream(&stream_, kNonBlocking), "cannot make a stream");
}

OwnedStream& OwnedStream::operator=(OwnedStream&& other) noexcept {
  std::swap(stream_, other.stream_);
  return *this;
}

OwnedStream::~OwnedStream() {
  if (stream_) (void)driver().free_stream(stream_);
}

void OwnedStream::wait() const {
  check(driver().wait_for_stream(stream_), "the model cannot run on these inputs");
}

OwnedEvent::OwnedEvent() {
  check(driver().make_event(&event_, 0), "cannot make an event");
}

OwnedEvent& OwnedEvent::operator=(OwnedEvent&& other) noexcept {
  std::swap(event_, other.event_);
  return *this;
}

OwnedEvent::~OwnedEvent() {
  if (event_) (void)driver().free_event(event_);
}

void OwnedEvent::record(const OwnedStream& stream) const {
  check(driver().record_event(event_, stream.get()), "cannot read the device's clock");
}

void OwnedEvent::hold(const OwnedStream& stream) const {
  check(driver().follow_event(stream.get(), event_, 0), "a stream cannot wait for another");
}

double OwnedEvent::ns_until(const OwnedEvent& end) const {
  float ms = 0;
  check(driver().elapsed_ms(&ms, event_, end.event_), "cannot read the device's clock");
  return double{ms} * 1e6;
}

// A capture must be ended even after an error, because the stream cannot be used before.
OwnedGraph::OwnedGraph(const OwnedStream& stream, const std::function<bool()>& work) {
  constexpr const char* kRefusal = "the plan cannot be recorded as a CUDA graph; use cuda_graph: false";
  check(driver().begin_capture(stream.get(), kCaptureThreadLocal), "cannot record a CUDA graph");
  const bool enqueued = work();
  Graph graph = nullptr;
  int code = driver().end_capture(stream.get(), &graph);
  if (enqueued && code == 0) code = driver().instantiate_graph(&exec_, graph, 0);
  if (graph) (void)driver().free_graph(graph);
  if (enqueued && code == 0) return;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} ({})", kRefusal, code == 0 ? "it was not enqueued" : error_words(code)));
}

OwnedGraph::~OwnedGraph() {
  if (exec_) (void)driver().free_graph_exec(exec_);
}

void OwnedGraph::launch(const OwnedStream& stream) const {
  check(driver().launch_graph(exec_, stream.get()), "the model cannot run on these inputs");
}

}  // namespace paceline::tensorrt_plugin
