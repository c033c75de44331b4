// SPDX-License-Identifier: MIT
// Decides which samples a rank sees when.
#pragma once
#include <cstdint>

namespace paceline::workload {

// A pseudo-random order of 0 … size - 1 as a function, so that no list is kept and any place can be asked
// for: a Feistel network over the next power of four, walked until it lands inside (Black and Rogaway,
// "Ciphers with arbitrary finite domains", 2002).
class Permutation {
 public:
  Permutation(std::int64_t size, std::uint64_t key);
  // The value at `place`; every value of the range occurs once.
  [[nodiscard]] std::int64_t operator()(std::int64_t place) const;

 private:
  [[nodiscard]] std::uint64_t encrypt(std::uint64_t value) const;
  std::uint64_t size_, key_;
  unsigned half_bits_ = 1;
};

// How the samples of an epoch are distributed over ranks.
struct Sharding {
  std::int64_t samples = 0;                   // of the data set
  std::int64_t samples_per_step_of_rank = 1;  // of one rank: micro-batch size times micro-batches
  int rank = 0;
  int world = 1;
  bool shuffle = true;
  std::uint64_t seed = 0;
};

// An epoch is a permutation that (seed, epoch) decides; step s takes its next samples_per_step_of_rank *
// world places, dealt to the ranks in turn as PyTorch's DistributedSampler does, so that no sample is seen
// twice in an epoch. The rest that does not fill a step of all ranks is left out.
class Sampler {
 public:
  // Throws Error(kConfig) when the data set is smaller than one step of all ranks.
  explicit Sampler(const Sharding& sharding);
  [[nodiscard]] std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  [[nodiscard]] std::int64_t samples_per_step_of_all_ranks() const;
  // Sample `i` of this rank in step `step`, counted from 0 over all epochs.
  [[nodiscard]] std::int64_t sample(std::int64_t step, std::int64_t i) const;
  [[nodiscard]] std::int64_t epoch(std::int64_t step) const { return step / steps_per_epoch_; }

 private:
  Sharding sharding_;
  std::int64_t steps_per_epoch_;
};

}  // namespace paceline::workload
