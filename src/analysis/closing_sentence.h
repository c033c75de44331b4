// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/stored/run_result.h"

namespace paceline::analysis {

// The answer of a run in a few sentences: which case is the fastest, by how much, and whether its answers are
// right. "onnxruntime int8 is 1.6 times as fast as onnxruntime fp32 (1.4–1.8); it keeps 31 of 32 answers."
// Larger runs of inference get one answer per model. Empty where nothing was measured or can be compared.
std::string closing_sentence(const result::RunResult& run);

}  // namespace paceline::analysis
