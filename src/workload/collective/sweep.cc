// SPDX-License-Identifier: MIT
#include "workload/collective/sweep.h"

#include <fmt/format.h>

#include <utility>

namespace paceline::workload {

std::vector<SweepStep> sweep_steps(const pass::CollectiveSpec& spec, std::int64_t world) {
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

std::int64_t smallest_bytes(const pass::CollectiveSpec& spec, std::int64_t world) {
  return collective_size(spec.operation, spec.dtype, world, 0).bytes;
}

StepBuffers buffers_of(const CollectiveSize& size, const pass::CollectiveSpec& spec) {
  const auto bytes =
      (size.send_count + size.receive_count) * static_cast<std::int64_t>(dtype_size_bytes(spec.dtype));
  return {bytes, spec.checks > 0 ? bytes : 0};
}

}  // namespace paceline::workload
