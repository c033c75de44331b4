// SPDX-License-Identifier: MIT
// The steps of a sweep, and what a rank holds in each: known before anything runs. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pass/collective_spec.h"

namespace paceline::pass {

// Elements that each rank sends and receives for a size in bytes, and what nccl-tests prints of it.
struct CollectiveSize {
  std::int64_t bytes = 0;  // the larger of what a rank sends and receives
  std::int64_t count = 0;  // elements of one block
  std::int64_t send_count = 0;
  std::int64_t receive_count = 0;
};
// At least one element, or one per rank: so the bytes may be more, and otherwise a little fewer, than asked
// for.
CollectiveSize collective_size(Collective operation, DType dtype, std::int64_t world, std::int64_t bytes);

// One size of a sweep, in place or not.
struct SweepStep {
  CollectiveSize size;
  bool in_place = false;
};

// In the order in which ranks measure them. Sizes that are the same in whole elements are measured once.
std::vector<SweepStep> sweep_steps(const CollectiveSpec& spec, std::int64_t world);

// "all_reduce of 4096 bytes, in place"
std::string words_of(const SweepStep& step, Collective operation);

// Bytes of the smallest message that the operation has: one element, or one for each rank.
std::int64_t smallest_bytes(const CollectiveSpec& spec, std::int64_t world);

// Bytes that a rank holds at least for one size: what it sends and receives, where the ranks run; and on the
// host copies of both where results are checked.
struct StepBuffers {
  std::int64_t buffers = 0;
  std::int64_t check = 0;
};
StepBuffers buffers_of(const CollectiveSize& size, const CollectiveSpec& spec);

}  // namespace paceline::pass
