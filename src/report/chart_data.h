// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <span>

#include "report/format_table.h"

namespace paceline::report {

// Writes the JSON that page/app.js draws. Times in ms, memory in MB, rates in items per second; a missing
// number is null.
nlohmann::json chart_data(std::span<const ReportRun> runs, const RenderOptions& options);

// The id of a case's section in the page, different for each run.
std::string case_anchor(const ReportCase& entry);

}  // namespace paceline::report
