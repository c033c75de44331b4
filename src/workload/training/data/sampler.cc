// SPDX-License-Identifier: MIT
#include "workload/training/data/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace paceline::workload {
namespace {

constexpr std::uint64_t kRounds = 8;

}  // namespace

Permutation::Permutation(std::int64_t size, std::uint64_t key)
    : size_(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1))), key_(key) {
  half_bits_ = std::max(1U, (static_cast<unsigned>(std::bit_width(size_ - 1)) + 1) / 2);
}

std::uint64_t Permutation::encrypt(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_, right = value & mask;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    left ^= CounterRng(key_, round).bits(right) & mask;
    std::swap(left, right);
  }
  return left << half_bits_ | right;
}

std::int64_t Permutation::operator()(std::int64_t place) const {
  auto value = static_cast<std::uint64_t>(place);
  do value = encrypt(value);
  while (value >= size_);
  return static_cast<std::int64_t>(value);
}

Sampler::Sampler(const Sharding& sharding)
    : sharding_(sharding), steps_per_epoch_(sharding.samples / samples_per_step_of_all_ranks()) {
  if (steps_per_epoch_ == 0)
    throw Error(ErrorCode::kConfig,
                fmt::format("the data set contains {} samples, one step takes {} ({} on each of {} ranks); "
                            "use a smaller --batch-size, fewer --ranks, or more data in data.path",
                            sharding.samples, samples_per_step_of_all_ranks(),
                            sharding.samples_per_step_of_rank, sharding.world));
}

std::int64_t Sampler::samples_per_step_of_all_ranks() const {
  return sharding_.samples_per_step_of_rank * sharding_.world;
}

std::int64_t Sampler::sample(std::int64_t step, std::int64_t i) const {
  const std::int64_t of_rank = step % steps_per_epoch_ * sharding_.samples_per_step_of_rank + i;
  const std::int64_t place = of_rank * sharding_.world + sharding_.rank;
  if (!sharding_.shuffle) return place;
  const CounterRng keys(sharding_.seed, hash64("order of samples"));
  return Permutation(sharding_.samples, keys.bits(static_cast<std::uint64_t>(epoch(step))))(place);
}

}  // namespace paceline::workload
