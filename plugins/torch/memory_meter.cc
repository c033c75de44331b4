// SPDX-License-Identifier: MIT
#include "torch/memory_meter.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace paceline::torch_plugin {

class MemoryMeter::Ledger : public c10::MemoryReportingInfoBase {
 public:
  // LibTorch reports frees as negative sizes. A block whose allocation was not seen is not subtracted.
  void reportMemoryUsage(void* block, std::int64_t bytes, std::size_t, std::size_t, c10::Device) override {
    const std::lock_guard lock(mutex_);
    if (bytes > 0) {
      forget(block);
      blocks_[block] = bytes;
      live_bytes_ += bytes;
      peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    } else {
      forget(block);
    }
  }
  bool memoryProfilingEnabled() const override { return true; }
  void reset_peak() {
    const std::lock_guard lock(mutex_);
    peak_bytes_ = live_bytes_;
  }
  std::int64_t peak_bytes() const {
    const std::lock_guard lock(mutex_);
    return peak_bytes_;
  }

 private:
  void forget(void* block) {
    const auto at = blocks_.find(block);
    if (at == blocks_.end()) return;
    live_bytes_ -= at->second;
    blocks_.erase(at);
  }

  mutable std::mutex mutex_;
  std::unordered_map<void*, std::int64_t> blocks_;
  std::int64_t live_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
};

class MemoryScopeGuard {
 public:
  explicit MemoryScopeGuard(std::shared_ptr<c10::DebugInfoBase> ledger)
      : guard_(c10::DebugInfoKind::PROFILER_STATE, std::move(ledger)) {}

 private:
  c10::DebugInfoGuard guard_;
};

MemoryMeter::Scope::Scope(MemoryMeter& meter) : guard_(std::make_unique<MemoryScopeGuard>(meter.ledger_)) {}
MemoryMeter::Scope::~Scope() = default;

MemoryMeter::MemoryMeter() : ledger_(std::make_shared<Ledger>()) {}
void MemoryMeter::reset_peak() {
  ledger_->reset_peak();
}
std::int64_t MemoryMeter::peak_bytes() const {
  return ledger_->peak_bytes();
}

}  // namespace paceline::torch_plugin
