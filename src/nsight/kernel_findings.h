// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "nsight/kernel_figures.h"

namespace paceline::nsight {

// What the kernels that matter lose time to, the longest kernel first; at most five. `kernels`: the longest
// first.
std::vector<KernelFinding> kernel_findings(std::span<const KernelFigures> kernels);

// What a warp waits for, in words; empty for a reason that is not known.
std::string_view stall_words(std::string_view reason);

// A kernel's name without return type, template arguments and parameters, for people.
std::string short_name(const std::string& name);

}  // namespace paceline::nsight
