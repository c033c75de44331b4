// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "report/format_table.h"

// The functions that write the formats of format_table.cc.
namespace paceline::report {

std::string render_text(std::span<const ReportRun> runs, const RenderOptions& options);
std::string render_markdown(std::span<const ReportRun> runs, const RenderOptions& options);
std::string render_csv(std::span<const ReportRun> runs, const RenderOptions& options);
std::string render_study(std::span<const ReportRun> runs, const RenderOptions& options);
std::string render_json(std::span<const ReportRun> runs, const RenderOptions& options);
std::string render_html(std::span<const ReportRun> runs, const RenderOptions& options);

}  // namespace paceline::report
