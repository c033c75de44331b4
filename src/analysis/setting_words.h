// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "result/stored/case_result.h"

// Names of settings in advice about training: a plan has others than the script of an attached job.
namespace paceline::analysis {

// Replaces "{loader}" and the like by what its reader can set: in a plan, or in a script of PyTorch where the
// case is a job of another program. Throws Error(kInternal) for an unknown name.
std::string advice_to(const result::CaseResult& one, std::string_view advice);

}  // namespace paceline::analysis
