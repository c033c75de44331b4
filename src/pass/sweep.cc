// SPDX-License-Identifier: MIT
#include "pass/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace paceline::pass {

CollectiveSize collective_size(Collective operation, DType dtype, std::int64_t world, std::int64_t bytes) {
  const auto each = static_cast<std::int64_t>(dtype_size_bytes(dtype));
  if (operation == Collective::kBarrier) return {};
  if (!row_of(operation).per_rank) {
    const auto count = std::max<std::int64_t>(1, bytes / each);
    return {count * each, count, count, count};
  }
  const auto count = std::max<std::int64_t>(1, bytes / each / world), all = count * world;
  return {all * each, count, operation == Collective::kAllGather ? count : all,
          operation == Collective::kReduceScatter ? count : all};
}

std::vector<SweepStep> sweep_steps(const CollectiveSpec& spec, std::int64_t world) {
  std::vector<SweepStep> steps;
  std::int64_t before = -1;
  for (const auto bytes : spec.sizes) {
    const auto size = collective_size(spec.operation, spec.dtype, world, bytes);
    if (std::exchange(before, size.bytes) == size.bytes) continue;
    steps.push_back({size, false});
    if (row_of(spec.operation).in_place) steps.push_back({size, true});
  }
  return steps;
}

std::string words_of(const SweepStep& step, Collective operation) {
  const auto& row = row_of(operation);
  if (operation == Collective::kBarrier) return std::string(row.name);
  return fmt::format("{} of {} bytes{}", row.name, step.size.bytes,
                     !row.in_place   ? ""
                     : step.in_place ? ", in place"
                                     : ", out of place");
}

std::int64_t smallest_bytes(const CollectiveSpec& spec, std::int64_t world) {
  return collective_size(spec.operation, spec.dtype, world, 0).bytes;
}

StepBuffers buffers_of(const CollectiveSize& size, const CollectiveSpec& spec) {
  const auto bytes =
      (size.send_count + size.receive_count) * static_cast<std::int64_t>(dtype_size_bytes(spec.dtype));
  return {bytes, spec.checks > 0 ? bytes : 0};
}

}  // namespace paceline::pass
