// SPDX-License-Identifier: MIT
// The parts of an answer that studies of kernels and of timelines share.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "answer/answer.h"
#include "nsight/kernel_figures.h"

namespace paceline::nsight {

enum class KernelColumns { kTimes, kAll };

// The kernels that take the most time.
answer::Section kernel_section(std::span<const KernelFigures> kernels, KernelColumns shown);

// The most severe finding, or that there is none.
std::string sentence_of(std::span<const answer::Finding> findings);

// Every figure of the kernels, for programs.
nlohmann::json kernels_json(const std::vector<KernelFigures>& kernels);

}  // namespace paceline::nsight
