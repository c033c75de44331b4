// SPDX-License-Identifier: MIT
// Facts about a case before anything ran: its identity, settings and repetitions.
#pragma once
#include <string>

#include "config/plan.h"
#include "result/stored/case_result.h"

// Identity of a case before anything ran. Pure.
namespace paceline::run {

// Its identity, its settings, and how often it is repeated.
result::CaseResult new_case_result(const config::Case& c, const std::string& run_id);

}  // namespace paceline::run
