// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>

namespace paceline::torch_plugin {

// Follows LibTorch's CPU allocator on this thread while a Scope is alive; blocks seen in one scope are known
// in the next.
class MemoryMeter {
 public:
  class Ledger;
  class Scope {
   public:
    explicit Scope(MemoryMeter& meter);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::unique_ptr<class MemoryScopeGuard> guard_;
  };

  MemoryMeter();
  // Starts a new high-water mark at what is alive now.
  void reset_peak();
  [[nodiscard]] std::int64_t peak_bytes() const;

 private:
  std::shared_ptr<Ledger> ledger_;
};

}  // namespace paceline::torch_plugin
