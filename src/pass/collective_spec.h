// SPDX-License-Identifier: MIT
// Task of a rank that times collectives.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/archive.h"
#include "base/collective.h"

namespace paceline::archive {
template <>
struct EnumNames<Collective> {
  static constexpr auto kValue = names_of_rows(kCollectives, &CollectiveRow::operation);
};
template <>
struct EnumNames<Reduction> {
  static constexpr auto kValue = names_of_rows(kReductions, &ReductionRow::reduction);
};
}  // namespace paceline::archive

namespace paceline::pass {

// How many operations are timed one by one: PassSpec::loop.stop, for each size.
struct CollectiveSpec {
  static constexpr const char* kField = "collective";
  Collective operation = Collective::kAllReduce;
  DType dtype = DType::kFloat32;
  Reduction reduction = Reduction::kSum;
  int root = 0;
  std::vector<std::int64_t> sizes;  // bytes, as nccl-tests counts them; a barrier has one size, 0
  std::int64_t warmup = 5;          // untimed operations of each size
  std::int64_t batch = 20;          // operations back to back, timed at once
  std::int64_t checks = 1;          // untimed operations of each size whose results are compared
  std::string rounds;               // after the sweep: pairs | hosts | a size of subsets; empty: none
  std::int64_t round_bytes = 0;     // that each rank sends in a round
  double slow_factor = 1;           // what others take times this is slow
};
PACELINE_FIELDS(CollectiveSpec, operation, dtype, reduction, root, sizes, warmup, batch, checks, rounds,
                round_bytes, slow_factor);

}  // namespace paceline::pass
