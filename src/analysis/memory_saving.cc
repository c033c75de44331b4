// SPDX-License-Identifier: MIT
#include "analysis/memory_saving.h"

#include <algorithm>
#include <cstddef>

#include "result/figures/peak_memory.h"

namespace paceline::analysis {
namespace {

// The memory of one process does not tell how much others differ.
constexpr std::ptrdiff_t kProcessesForMemory = 3;

std::ptrdiff_t processes_with_memory(const result::CaseResult& one) {
  return std::count_if(one.repetitions.begin(), one.repetitions.end(),
                       [&](const auto& r) { return bool(result::peak_memory(one.benchmark, r.memory)); });
}

}  // namespace

std::optional<MemoryRange> memory_range(const result::CaseResult& one) {
  std::optional<MemoryRange> range;
  for (const auto& repetition : one.repetitions) {
    const auto peak = result::peak_memory(one.benchmark, repetition.memory);
    if (!peak) continue;
    const auto bytes = static_cast<double>(*peak);
    if (!range) range = MemoryRange{bytes, bytes};
    range = MemoryRange{std::min(range->low, bytes), std::max(range->high, bytes)};
  }
  return range;
}

std::optional<MemorySaving> memory_saving(const result::CaseResult& one, const result::CaseResult& other) {
  if (result::on_device(one.benchmark) != result::on_device(other.benchmark)) return std::nullopt;
  if (std::min(processes_with_memory(one), processes_with_memory(other)) < kProcessesForMemory)
    return std::nullopt;
  const auto mine = memory_range(one), theirs = memory_range(other);
  if (!mine || !theirs || theirs->low <= 0 || mine->high >= theirs->low) return std::nullopt;
  return MemorySaving{1 - mine->high / theirs->high, 1 - mine->high / theirs->low,
                      1 - mine->low / theirs->high};
}

}  // namespace paceline::analysis
