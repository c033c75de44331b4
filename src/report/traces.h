// SPDX-License-Identifier: MIT
// Words what the traces of another program say.
#pragma once
#include "analysis/traces/trace_study.h"
#include "answer/answer.h"

namespace paceline::report {

// `kernels`: operators with the kernels that they launched.
answer::Answer answer_of(const analysis::traces::TraceStudy& study, bool kernels = false);

}  // namespace paceline::report
