// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "report/report_run.h"
#include "report/terminal_table.h"

namespace paceline::report {

struct RenderOptions {
  TerminalOptions terminal;       // for text
  std::size_t max_points = 2000;  // points drawn per case in a time series; extremes always stay
};

// One row of the table of report formats: takes one run or several side by side, returns the whole document.
struct Format {
  std::string_view name;
  std::string_view file;  // its name in a folder
  std::string_view description;
  std::string (*render)(std::span<const ReportRun>, const RenderOptions&);
};

std::span<const Format> formats();

// Throws Error(kUsage) with the nearest name.
const Format& find_format(std::string_view name);

}  // namespace paceline::report
