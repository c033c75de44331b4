// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace paceline::attach {

// Memory for objects of one size that one thread takes and another gives back, without a lock or an
// allocation.
template <std::size_t kBytes>
class ContextPool {
 public:
  static constexpr std::size_t kWords = 16, kBits = 64, kRoom = kWords * kBits;

  // Null if all are taken.
  void* take() {
    const auto first = hint_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < kWords; ++i) {
      const auto word = (first + i) % kWords;
      auto taken = taken_[word].load(std::memory_order_relaxed);
      while (~taken != 0) {
        const auto bit = static_cast<std::size_t>(__builtin_ctzll(~taken));
        if (!taken_[word].compare_exchange_weak(taken, taken | (std::uint64_t{1} << bit),
                                                std::memory_order_acquire, std::memory_order_relaxed))
          continue;
        hint_.store(word, std::memory_order_relaxed);
        return memory_.data() + (word * kBits + bit) * kBytes;
      }
    }
    return nullptr;
  }

  void give_back(void* object) {
    const auto at = static_cast<std::size_t>(static_cast<unsigned char*>(object) - memory_.data()) / kBytes;
    hint_.store(at / kBits, std::memory_order_relaxed);
    taken_[at / kBits].fetch_and(~(std::uint64_t{1} << at % kBits), std::memory_order_release);
  }

 private:
  std::array<std::atomic<std::uint64_t>, kWords> taken_{};
  std::atomic<std::size_t> hint_{0};
  alignas(std::max_align_t) std::array<unsigned char, kRoom * kBytes> memory_{};
};

}  // namespace paceline::attach
