// SPDX-License-Identifier: MIT
// Description of a report's format.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "report/answer_parts.h"
#include "report/report_run.h"

namespace paceline::report {

struct RenderOptions {
  TerminalOptions terminal;       // for text
  std::size_t max_points = 2000;  // points drawn per case in a time series; extremes always stay
};

// Target of a format: text for a program or a terminal, the page beside the run, the page on paper, or a
// folder of charts.
enum class FormatKind { kText, kPage, kPaper, kDrawings, kImages };

struct Format {
  // Takes one run or several side by side, returns the whole document.
  using Render = std::string(std::span<const ReportRun>, const RenderOptions&);

  std::string_view name;
  std::string_view file;  // its name in a folder
  std::string_view description;
  Render* render = nullptr;  // null: its files are those of chart_files.h
  FormatKind kind = FormatKind::kText;
  bool answers = false;  // it has room for the answers to --what-if
};

}  // namespace paceline::report
