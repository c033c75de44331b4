// SPDX-License-Identifier: MIT
// The formats that a report may have: one row per format, in the order in which they are offered.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "report/format.h"

namespace paceline::report {

std::span<const Format> formats();

// Functions of the table, each in a file of its form.
Format::Render render_text, render_markdown, render_html, render_csv, render_study, render_json;

// The format "text" for a run in memory in two parts: table and findings; the answer, with an empty line
// before.
std::string terminal_table(const result::RunResult& run, const TerminalOptions& options);
std::string terminal_answer(const result::RunResult& run, const TerminalOptions& options);

// Throws Error(kUsage) with the nearest name.
const Format& find_format(std::string_view name);

}  // namespace paceline::report
