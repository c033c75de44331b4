// SPDX-License-Identifier: MIT
// Time that the kernels of a profile lost, its reasons, and what to try.
#pragma once
#include <string>
#include <vector>

#include "answer/answer.h"
#include "nsight/kernel_figures.h"
#include "nsight/ncu_csv.h"

namespace paceline::nsight {

struct KernelStudy {
  std::string source;
  std::vector<KernelFigures> kernels;  // the longest first
  std::vector<answer::Finding> findings;
  std::vector<std::string> remarks;
};

KernelStudy study_kernels(const NcuFile& file, const std::string& source);

// A table of the kernels that take the most time, and the findings.
answer::Answer answer_of(const KernelStudy& study);

}  // namespace paceline::nsight
