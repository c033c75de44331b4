// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tensorrt/driver.h"

namespace paceline::tensorrt_plugin {

inline constexpr const char* kDeviceOption = "device";  // of the engine and of the builder: which Gpu

// One device of this process, by its primary context, which stays until the process ends.
class Gpu {
 public:
  // `device`: "cuda:1". Throws Error(kUnavailable) without a driver or such a device, Error(kUsage) for what
  // is no name of one.
  explicit Gpu(const std::string& device);
  void use() const;  // by the calling thread; before anything else that touches the device
  void use_if_possible() const noexcept;  // the same in a destructor
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& capability() const { return capability_; }  // "9.0"

 private:
  int index_ = 0;
  Context context_ = nullptr;
  std::string name_, capability_;
};

// Owners of what the driver hands out, on the device in use. Moved, never copied.
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

// Memory of the host that copies come from or go to: pinned, which the device reads and writes by itself, or
// pageable, through which the driver copies piece by piece.
class HostBuffer {
 public:
  HostBuffer(std::size_t bytes, bool pinned);
  [[nodiscard]] void* get() const { return memory_; }

 private:
  PinnedBuffer pinned_;
  std::unique_ptr<std::byte[]> pageable_;
  void* memory_ = nullptr;  // of one of them
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
  [[nodiscard]] double ns_until(const OwnedEvent& end) const;  // both recorded and waited for

 private:
  Event event_ = nullptr;
};

// Work of a stream that was recorded, launched as one piece.
class OwnedGraph {
 public:
  // Records what `work` enqueues on the stream; nothing of it runs. Throws Error(kUnsupported) when it cannot
  // be recorded, or `work` says false.
  OwnedGraph(const OwnedStream& stream, const std::function<bool()>& work);
  OwnedGraph(const OwnedGraph&) = delete;
  OwnedGraph& operator=(const OwnedGraph&) = delete;
  ~OwnedGraph();
  void launch(const OwnedStream& stream) const;

 private:
  GraphExec exec_ = nullptr;
};

}  // namespace paceline::tensorrt_plugin
