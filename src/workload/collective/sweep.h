// SPDX-License-Identifier: MIT
// The steps of a sweep, and what a rank holds in each: known before anything runs. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pass/collective_spec.h"
#include "workload/collective/collective_data.h"

namespace paceline::workload {

// One size of a sweep, in place or not.
struct SweepStep {
  CollectiveSize size;
  bool in_place = false;
};

// In the order in which ranks measure them. Sizes that are the same in whole elements are measured once.
std::vector<SweepStep> sweep_steps(const pass::CollectiveSpec& spec, std::int64_t world);

// "all_reduce of 4096 bytes, in place"
std::string words_of(const SweepStep& step, Collective operation);

// Bytes of the smallest message that the operation has: one element, or one for each rank.
std::int64_t smallest_bytes(const pass::CollectiveSpec& spec, std::int64_t world);

// Bytes that a rank holds at least for one size: what it sends and receives, where the ranks run; and on the
// host copies of both where results are checked.
struct StepBuffers {
  std::int64_t buffers = 0;
  std::int64_t check = 0;
};
StepBuffers buffers_of(const CollectiveSize& size, const pass::CollectiveSpec& spec);

}  // namespace paceline::workload
