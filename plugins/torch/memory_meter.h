// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>

namespace paceline::torch_plugin {

// Measures LibTorch's CPU allocator on this thread while a Scope lives; blocks of one scope stay known.
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
  // Resets the high-water mark to what is allocated now.
  void reset_peak();
  [[nodiscard]] std::int64_t peak_bytes() const;

 private:
  std::shared_ptr<Ledger> ledger_;
};

}  // namespace paceline::torch_plugin
