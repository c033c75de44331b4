// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/stored/case_result.h"

namespace paceline::result {

// "int8"; with weights of another type "int4 × int8".
inline std::string executed_text(const ExecutedPrecision& executed) {
  return executed.weights.empty() ? executed.precision : executed.weights + " × " + executed.precision;
}

}  // namespace paceline::result
