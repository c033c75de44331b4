// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/run_result.h"

namespace paceline::analysis {

// Words the result of a run of one or two cases in one sentence: "openvino int8 is 3.7 times faster than
// openvino fp32 (3.4–4.1), same answers on 31 of 32 inputs." Empty for larger runs, and where nothing was
// measured.
std::string closing_sentence(const result::RunResult& run);

}  // namespace paceline::analysis
