// SPDX-License-Identifier: MIT
// The parts of text and JSON that both kinds of study have.
#pragma once
#include <nlohmann/json.hpp>
#include <span>

#include "nsight/kernel_figures.h"

namespace paceline::nsight {

enum class KernelColumns { kTimes, kAll };
// The kernels that take the most time, at most `columns` wide.
std::string kernel_table(std::span<const KernelFigures> kernels, std::size_t columns, KernelColumns shown);
std::string findings_text(std::span<const KernelFinding> findings, std::span<const std::string> remarks);
nlohmann::json json_of(std::span<const KernelFinding> findings);

}  // namespace paceline::nsight
