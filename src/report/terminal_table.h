// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "report/section.h"

namespace paceline::report {

// Prints the table of cases with footnotes and the findings. Narrow terminals lose columns from the right,
// never case and p50.
std::string terminal_table(std::span<const ReportRun> runs, const TerminalOptions& options);
std::string terminal_table(const result::RunResult& run, const TerminalOptions& options);

}  // namespace paceline::report
