// SPDX-License-Identifier: MIT
#include "torch/cuda/cuda_steps.h"

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <map>
#include <mutex>

#include "torch/cuda/nvtx_range.h"
#include "torch/training/queued_steps.h"

namespace paceline::cuda_plugin {
namespace {

// A timed event on the current stream of the caller: a backward pass runs on the stream of its forward pass,
// the callback of a collective on a stream that waits for it.
class EventMark {
 public:
  using Place = c10::DeviceIndex;
  explicit EventMark(Place device) : device_(device) {}
  void set() { event_.record(c10::cuda::getCurrentCUDAStream(device_)); }
  void wait() const { event_.synchronize(); }
  [[nodiscard]] bool reached() const { return event_.query(); }
  // CUDA returns milliseconds as a float, with a resolution of about half a microsecond.
  [[nodiscard]] double ns_since(const EventMark& earlier) const {
    return static_cast<double>(earlier.event_.elapsed_time(event_)) * 1e6;
  }

 private:
  Place device_;
  at::cuda::CUDAEvent event_{cudaEventDefault};
};

// Training is on the default stream, on which gloo's threads wait for their copies, too. Streams for copies
// come from the pool that callbacks of collectives do not use.
class CudaRuntime {
 public:
  using Mark = EventMark;
  explicit CudaRuntime(c10::DeviceIndex device)
      : device_(device), copies_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device)) {}

  [[nodiscard]] EventMark::Place place() const { return device_; }
  [[nodiscard]] at::Tensor host_memory(const at::Tensor& like) const {
    return at::empty(like.sizes(), at::TensorOptions().dtype(like.scalar_type()).pinned_memory(true));
  }
  // The allocator reuses memory as soon as its last user was enqueued, in the order of one stream; another
  // stream has to wait.
  [[nodiscard]] at::Tensor device_memory(const at::Tensor& like) const {
    auto memory = at::empty(
        like.sizes(), at::TensorOptions().dtype(like.scalar_type()).device(at::Device(at::kCUDA, device_)));
    c10::cuda::getCurrentCUDAStream(device_).synchronize();
    return memory;
  }
  void copy_beside(const at::Tensor& into, const at::Tensor& from) {
    {
      const c10::cuda::CUDAStreamGuard guard(copies_);
      into.copy_(from, /*non_blocking=*/true);
    }
    copied_.record(copies_);
    copied_.block(c10::cuda::getCurrentCUDAStream(device_));
  }
  static void copy_back(const at::Tensor& into, const at::Tensor& from) {
    into.copy_(from, /*non_blocking=*/true);
  }

 private:
  c10::DeviceIndex device_;
  c10::cuda::CUDAStream copies_;
  at::cuda::CUDAEvent copied_;
};

using torch_plugin::QueuedSteps;

// Steps whose parts are named in a timeline. They are those of the host, which runs ahead of the device.
class NamedSteps : public QueuedSteps<CudaRuntime> {
 public:
  using QueuedSteps::QueuedSteps;
  void open() override {
    step_ = NvtxRange("step");
    QueuedSteps::open();
  }
  void enter(plugin::StepPhase phase) override {
    QueuedSteps::enter(phase);
    const std::lock_guard lock(mutex_);
    part_.end();
    if (const char* name = name_of(phase)) part_ = NvtxRange(name);
    if (phase == plugin::StepPhase::kEnd) step_.end();
  }
  void launched(int bucket, std::int64_t bytes) override {
    QueuedSteps::launched(bucket, bytes);
    const std::lock_guard lock(mutex_);
    buckets_[bucket] = NvtxRange("bucket");
  }
  void finished(int bucket) override {
    QueuedSteps::finished(bucket);
    const std::lock_guard lock(mutex_);
    buckets_.erase(bucket);
  }
  at::Tensor send(const at::Tensor& host) override {
    const NvtxRange copy("H2D");
    return QueuedSteps::send(host);
  }
  void end(const at::Tensor& figures) override {
    const NvtxRange copy("D2H");
    QueuedSteps::end(figures);
  }

 private:
  // Null: it has no name here. Waiting for input and the end are no work.
  static const char* name_of(plugin::StepPhase phase) {
    switch (phase) {
      case plugin::StepPhase::kForward:
        return "forward";
      case plugin::StepPhase::kBackward:
        return "backward";
      case plugin::StepPhase::kOptimizer:
        return "optimizer";
      case plugin::StepPhase::kCommunication:
        return "communication";
      case plugin::StepPhase::kInput:
      case plugin::StepPhase::kEnd:
        return nullptr;
    }
    return nullptr;
  }

  std::mutex mutex_;
  NvtxRange step_, part_;
  std::map<int, NvtxRange> buckets_;
};

}  // namespace

std::unique_ptr<torch_plugin::StepsUnderWay> make_cuda_steps(int device) {
  CudaRuntime runtime(static_cast<c10::DeviceIndex>(device));
  if (nvtx_is_wanted()) return std::make_unique<NamedSteps>(std::move(runtime));
  return std::make_unique<QueuedSteps<CudaRuntime>>(std::move(runtime));
}

}  // namespace paceline::cuda_plugin
