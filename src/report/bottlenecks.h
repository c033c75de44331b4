// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/bottlenecks.h"
#include "result/stored/run_result.h"

namespace paceline::report {

// One sentence: how much of a step ranks wait for each other, for data and for the host.
std::string shape_text(const result::CaseResult& one);

// The numbered bottlenecks of each training case, for a terminal; `target` as in analysis/bottlenecks.h.
std::string bottlenecks_text(const result::RunResult& run, std::string_view target);

// They are numbered; "no bottleneck found" where there are none.
std::string bottleneck_list(const result::CaseResult& one, const std::vector<analysis::Bottleneck>& found);

// "costs 3.1 ms of a step (2.9–3.3), 12.0 %"
std::string cost_words(const analysis::Bottleneck& bottleneck);

// The findings about a case begin with its name.
std::string without_label(const std::string& text, const result::CaseResult& one);

}  // namespace paceline::report
