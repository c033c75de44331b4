// SPDX-License-Identifier: MIT
// Judges what a case saves of another's memory, over the processes of both.
#pragma once
#include <optional>

#include "result/stored/case_result.h"

namespace paceline::analysis {

inline constexpr double kMemoryChange = 0.05;  // smaller differences are not worth mentioning

// Smallest and largest peak above load over the processes of a case.
struct MemoryRange {
  double low = 0, high = 0;
};
std::optional<MemoryRange> memory_range(const result::CaseResult& one);

// Share of another case's memory that this case saves.
struct MemorySaving {
  double share = 0, low = 0, high = 0;
};
// Judged at the extremes of the processes; none where the processes of the two overlap, or where one case has
// its memory on a device and the other has not.
std::optional<MemorySaving> memory_saving(const result::CaseResult& one, const result::CaseResult& other);

}  // namespace paceline::analysis
