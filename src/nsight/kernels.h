// SPDX-License-Identifier: MIT
// Time that the kernels of a profile lost, its reasons, and what to try.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "nsight/kernel_figures.h"
#include "nsight/ncu_csv.h"

namespace paceline::nsight {

struct KernelStudy {
  std::string source;
  std::vector<KernelFigures> kernels;  // the longest first
  std::vector<KernelFinding> findings;
  std::vector<std::string> remarks;
};

KernelStudy study_kernels(const NcuFile& file, const std::string& source);

nlohmann::json to_json(const KernelStudy& study);
// A table of the kernels that matter, and the findings, at most `columns` wide.
std::string text_of(const KernelStudy& study, std::size_t columns);

}  // namespace paceline::nsight
