// SPDX-License-Identifier: MIT
#include "torch/training/observed_group.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"

namespace paceline::torch_plugin {

struct ObservedGroup::Watch {
  std::mutex mutex;
  std::condition_variable changed;
  plugin::StepRecorder* recorder = nullptr;
  std::size_t buckets = 0;
  bool ends_are_timed = true;
  int launched = 0;
  int finished = 0;

  // The bucket's number; -1 when nothing is recorded.
  int launch(std::int64_t bytes) {
    const std::lock_guard lock(mutex);
    if (!recorder) return -1;
    const int bucket = launched++;
    if (static_cast<std::size_t>(launched) == buckets) recorder->enter(plugin::StepPhase::kCommunication);
    recorder->launched(bucket, bytes);
    return bucket;
  }
  void finish(int bucket) {
    const std::lock_guard lock(mutex);
    if (recorder && ends_are_timed) recorder->finished(bucket);
    ++finished;
    changed.notify_all();
  }
};

namespace {

using Future = c10::ivalue::Future;

// Ends when its future does, whatever the backend's own work says.
class LateWork : public c10d::Work {
 public:
  explicit LateWork(c10::intrusive_ptr<Future> end) : end_(std::move(end)) {}
  c10::intrusive_ptr<Future> getFuture() override { return end_; }
  bool isCompleted() override { return end_->completed(); }
  bool wait(std::chrono::milliseconds) override {
    end_->waitAndThrow();
    return true;
  }

 private:
  c10::intrusive_ptr<Future> end_;
};

// gloo's thread sleeps, so that the next bucket waits, too, as it does behind a slow link.
c10::intrusive_ptr<c10d::Work> delayed(const c10::intrusive_ptr<c10d::Work>& work, double seconds) {
  auto end = c10::make_intrusive<Future>(work->getFuture()->elementType());
  work->getFuture()->addCallback([end, seconds](Future& done) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    if (done.hasError())
      end->setError(done.exception_ptr());
    else
      end->markCompleted(done.constValue());
  });
  return c10::make_intrusive<LateWork>(end);
}

}  // namespace

ObservedGroup::ObservedGroup(const TorchGroup& group, double delay_s)
    : c10d::ProcessGroup(c10::intrusive_ptr<c10d::Store>(), group.rank(), group.world()),
      delay_s_(delay_s),
      watch_(std::make_shared<Watch>()) {
  if (delay_s > 0 && !group.device().is_cpu())
    throw Error(ErrorCode::kUnsupported, "slow_link is a fault of ranks on the CPU");
  // gloo's work for a device ends on gloo's own streams; by then other work is on the one that we can mark.
  watch_->ends_are_timed = group.device().is_cpu() || group.backend_type() != BackendType::GLOO;
  if (group.backend_type() == BackendType::NCCL) setBoundDeviceId(group.device());
  setBackend(group.device().type(), group.backend_type(), group.backend());
  setDefaultBackend(group.backend_type());
  setGroupName("paceline");
}

ObservedGroup::~ObservedGroup() {
  unwatch();
}

// The Reducer's map of unused parameters holds integers, and is not a bucket.
c10::intrusive_ptr<c10d::Work> ObservedGroup::allreduce(std::vector<at::Tensor>& tensors,
                                                        const c10d::AllreduceOptions& options) {
  const auto& bucket = tensors.front();
  const int number =
      bucket.is_floating_point() ? watch_->launch(static_cast<std::int64_t>(bucket.nbytes())) : -1;
  auto work = c10d::ProcessGroup::allreduce(tensors, options);
  if (number >= 0 && delay_s_ > 0) work = delayed(work, delay_s_);
  if (number >= 0) work->getFuture()->addCallback([watch = watch_, number](auto&) { watch->finish(number); });
  return work;
}

void ObservedGroup::watch(plugin::StepRecorder& recorder, std::size_t buckets) {
  const std::lock_guard lock(watch_->mutex);
  watch_->recorder = &recorder;
  watch_->buckets = buckets;
  watch_->launched = watch_->finished = 0;
}

void ObservedGroup::settle() {
  std::unique_lock lock(watch_->mutex);
  watch_->changed.wait(lock, [this] { return watch_->finished == watch_->launched; });
}

void ObservedGroup::unwatch() {
  const std::lock_guard lock(watch_->mutex);
  watch_->recorder = nullptr;
}

}  // namespace paceline::torch_plugin
