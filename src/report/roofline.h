// SPDX-License-Identifier: MIT
// Place of a case below the roofs of its device: memory traffic on the left, arithmetic on the right.
#pragma once
#include <optional>
#include <string_view>

#include "result/stored/case_result.h"

namespace paceline::report {

// Whether its FLOPs, its bytes and a roof are known.
bool has_roofline_point(const result::CaseResult& one);
double flops_per_gpu(const result::CaseResult& one);

// Adds the figures of another case on such a device that are not there: one on a CPU has those of its
// precision alone.
void add_lacking(result::DevicePeaks& peaks, const result::DevicePeaks& more);

struct RoofOver {
  std::string_view limit;  // memory | compute
  double share = 0;        // of the roof over the point
};
// By the measured roofs; none where one of them is not known.
std::optional<RoofOver> roof_over(const result::CaseResult& one);

}  // namespace paceline::report
