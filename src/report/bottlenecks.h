// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/self_test.h"
#include "result/run_result.h"

namespace paceline::report {

// One sentence: how much of a step ranks wait for each other, for data and for the host.
std::string shape_text(const result::CaseResult& one);

// The numbered bottlenecks of each training case, for a terminal; `target` as in analysis/bottlenecks.h.
std::string bottlenecks_text(const result::RunResult& run, std::string_view target);

// A line for each case of a self-test, and how many were right.
std::string self_test_text(const std::vector<analysis::SelfTestRow>& rows);

}  // namespace paceline::report
