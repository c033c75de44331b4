// SPDX-License-Identifier: MIT
// Words what a report says about rounds of messages between ranks: a matrix of times, and who is slow.
#pragma once
#include "report/section.h"
#include "result/case_result.h"

namespace paceline::report {

Section rounds_section(const result::CaseResult& one, const result::RoundFigures& rounds, Form form);

}  // namespace paceline::report
