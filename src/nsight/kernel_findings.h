// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "answer/answer.h"
#include "nsight/kernel_figures.h"

namespace paceline::nsight {

// Reasons why the kernels that matter lose time, the longest kernel first; at most five. `kernels`: the
// longest first.
std::vector<answer::Finding> kernel_findings(std::span<const KernelFigures> kernels);

// Describes what a warp waits for; empty for an unknown reason.
std::string_view stall_words(std::string_view reason);

// A kernel's name without return type, template arguments and parameters, for people.
std::string short_name(const std::string& name);

}  // namespace paceline::nsight
