// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/report_formats.h"
#include "report/section.h"

namespace paceline::report {

struct RenderOptions {
  TerminalOptions terminal;       // for text
  std::size_t max_points = 2000;  // points drawn per case in a time series; extremes always stay
};

// What becomes of a format: text for a program or a terminal, the page beside the run, the page on paper, or
// a folder of charts.
enum class FormatKind { kText, kPage, kPaper, kDrawings, kImages };

// A format with what makes it: takes one run or several side by side, returns the whole document.
struct Format : ReportFormat {
  using Render = std::string(std::span<const ReportRun>, const RenderOptions&);
  Render* render = nullptr;  // null: its files are those of chart_files.h
  FormatKind kind = FormatKind::kText;
  bool answers = false;  // it has room for the answers to --what-if
};

std::span<const Format> formats();

// The functions of the table, each in a file of its form.
Format::Render render_text, render_markdown, render_html, render_csv, render_study, render_collectives,
    render_json, render_nccl, render_nccl_json;

// The format "text" for a run in memory in two parts: table and findings; the answer, with an empty line
// before.
std::string terminal_table(const result::RunResult& run, const TerminalOptions& options);
std::string terminal_answer(const result::RunResult& run, const TerminalOptions& options);

// The same of a recording of paceline monitor, which has no cases. Throws Error(kUsage) for those that need
// some.
Format of_recording(const Format& format);

// Throws Error(kUsage) with the nearest name.
const Format& find_format(std::string_view name);

}  // namespace paceline::report
