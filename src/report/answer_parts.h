// SPDX-License-Identifier: MIT
// Names of the answer layer, of which every subject of a report is made.
#pragma once
#include "answer/render/escape.h"
#include "answer/render/html.h"
#include "answer/render/markdown.h"
#include "answer/render/page.h"
#include "answer/render/svg.h"
#include "answer/render/terminal.h"
#include "answer/render/ticks.h"
#include "answer/section.h"
#include "answer/text_layout.h"

namespace paceline::report {

using answer::Axis, answer::Cell, answer::Chart, answer::Form, answer::LegendEntry, answer::Line,
    answer::Plot, answer::Plots, answer::Point, answer::Rectangle, answer::Row, answer::Section,
    answer::Sections, answer::Table, answer::TerminalOptions, answer::Tone;
using answer::bare_html_of, answer::bare_markdown_of, answer::bare_terminal_of, answer::html_of,
    answer::markdown_of, answer::terminal_of;
using answer::binary_bytes, answer::display_width, answer::pad_left, answer::pad_right, answer::short_labels,
    answer::shown, answer::split_shared, answer::to_ascii, answer::truncate, answer::truncate_middle,
    answer::within_limits, answer::wrapped;
using answer::code_span, answer::escape_html, answer::escape_markdown, answer::escape_xml,
    answer::formula_link, answer::html_id, answer::scrolling;
using answer::filled, answer::page_plot_style, answer::page_style;
using answer::kEndless, answer::kMissing, answer::kNone, answer::kNoNumbers;
using answer::linked, answer::rows_table, answer::share_labels;
using answer::series_colour, answer::series_mark, answer::svg_of, answer::SvgOptions;

}  // namespace paceline::report
