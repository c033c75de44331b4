// SPDX-License-Identifier: MIT
// A GPU, and owners of its memory and its streams.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tensorrt/driver.h"

namespace paceline::tensorrt_plugin {

inline constexpr const char* kDeviceOption = "device";  // of the engine and of the builder: selects the Gpu

// One device, with its primary context, which stays until the process ends.
class Gpu {
 public:
  // `device`: "cuda:1". Error(kUnavailable) without a driver or such a device, Error(kUsage) for a malformed
  // name.
  explicit Gpu(const std::string& device);
  void use() const;  // makes it the calling thread's device; needed before anything else that touches it
  void use_if_possible() const noexcept;  // the same in a destructor
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& capability() const { return capability_; }  // "9.0"

 private:
  int index_ = 0;
  Context context_ = nullptr;
  std::string name_, capability_;
};

// Owners of the driver's objects on the device in use. They can be moved, but not copied.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept : memory_(std::exchange(other.memory_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();
  [[nodiscard]] DevicePointer get() const { return memory_; }
  [[nodiscard]] void* address() const { return reinterpret_cast<void*>(memory_); }

 private:
  DevicePointer memory_ = 0;
};

class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t bytes);
  PinnedBuffer(PinnedBuffer&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  ~PinnedBuffer();
  [[nodiscard]] void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

// Host memory as source or target of copies: pinned, which the device reads and writes itself, or pageable,
// through which the driver copies piece by piece.
class HostBuffer {
 public:
  HostBuffer(std::size_t bytes, bool pinned);
  [[nodiscard]] void* get() const { return memory_; }

 private:
  PinnedBuffer pinned_;
  std::unique_ptr<std::byte[]> pageable_;
  void* memory_ = nullptr;  // from either allocator
};

class OwnedStream {
 public:
  OwnedStream();
  OwnedStream(OwnedStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  OwnedStream& operator=(OwnedStream&& other) noexcept;
  ~OwnedStream();
  [[nodiscard]] Stream get() const { return stream_; }
  void wait() const;

 private:
  Stream stream_ = nullptr;
};

// A moment on the device's clock.
class OwnedEvent {
 public:
  OwnedEvent();
  OwnedEvent(OwnedEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  OwnedEvent& operator=(OwnedEvent&& other) noexcept;
  ~OwnedEvent();
  void record(const OwnedStream& stream) const;
  // Makes later work on the stream wait for the last recording, if there is one.
  void hold(const OwnedStream& stream) const;
  [[nodiscard]] double ns_until(const OwnedEvent& end) const;  // after both were recorded and waited for

 private:
  Event event_ = nullptr;
};

// Recorded work of a stream, launched as one piece.
class OwnedGraph {
 public:
  // Records what `work` enqueues on the stream without running it. Throws Error(kUnsupported) when it cannot
  // be recorded, or `work` returns false.
  OwnedGraph(const OwnedStream& stream, const std::function<bool()>& work);
  OwnedGraph(const OwnedGraph&) = delete;
  OwnedGraph& operator=(const OwnedGraph&) = delete;
  ~OwnedGraph();
  void launch(const OwnedStream& stream) const;

 private:
  GraphExec exec_ = nullptr;
};

}  // namespace paceline::tensorrt_plugin
