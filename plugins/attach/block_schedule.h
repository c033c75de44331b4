// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

// When the observer is off, so that its cost can be read from the job itself.
namespace paceline::attach {

// Steps come in blocks, blocks in groups of `blocks_per_off`, and one block of each group is off. Which one
// differs from group to group, so that the choice does not keep time with a job's own period, and is equal in
// all ranks. The first group begins with a block that is on.
class BlockSchedule {
 public:
  struct Block {
    std::uint64_t number = 0;
    bool on = true;
  };

  BlockSchedule() = default;
  // 0 blocks_per_off: always on.
  BlockSchedule(std::uint64_t block_steps, std::uint64_t blocks_per_off)
      : block_steps_(block_steps == 0 ? 1 : block_steps), blocks_per_off_(blocks_per_off) {}

  [[nodiscard]] std::uint64_t block_steps() const { return block_steps_; }
  // The block of a step. `used`: share of the file that is used; from a half on the observer is on in one
  // block of two, from three quarters on in one of four, and so on, so that a long job is seen to its end.
  [[nodiscard]] Block block_of(std::uint64_t step, double used) const {
    const auto number = step / block_steps_;
    return {number, !is_off(number) && number % spacing(used) == 0};
  }

 private:
  [[nodiscard]] bool is_off(std::uint64_t number) const {
    if (blocks_per_off_ == 0) return false;
    if (blocks_per_off_ == 1) return true;
    const auto group = number / blocks_per_off_;
    const auto place = number % blocks_per_off_;
    // Mixes the number of the group (a step of SplitMix64). The first block of a group is on.
    std::uint64_t mixed = (group + 1) * 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed ^= mixed >> 27U;
    return place == 1 + mixed % (blocks_per_off_ - 1);
  }

  static std::uint64_t spacing(double used) {
    constexpr std::uint64_t kMost = 1024;
    std::uint64_t spacing = 1;
    for (double left = 1 - used; left <= 0.5 && spacing < kMost; left *= 2) spacing *= 2;
    return spacing;
  }

  std::uint64_t block_steps_ = 20, blocks_per_off_ = 10;
};

// Counts the steps by which blocks go on: those of the optimizer that stepped first, until another one has
// made `patience` steps without it, as in a job that goes on with a second optimizer. Equal in all ranks.
class StepClock {
 public:
  static constexpr std::size_t kOptimizers = 64;

  // An optimizer has made its next step. True if the clock goes on.
  bool stepped(std::size_t optimizer, std::uint64_t patience) {
    if (optimizer != keeper_) {
      auto& alone = alone_[optimizer];
      if (alone.since != now_) alone = {now_, 0};
      if (++alone.steps < patience) return false;
      keeper_ = optimizer;
    }
    ++now_;
    return true;
  }
  [[nodiscard]] std::uint64_t now() const { return now_; }

 private:
  struct Alone {
    std::uint64_t since = 0, steps = 0;  // time of the clock, and steps at that time
  };
  std::size_t keeper_ = 0;
  std::uint64_t now_ = 0;
  std::array<Alone, kOptimizers> alone_{};
};

}  // namespace paceline::attach
