// SPDX-License-Identifier: MIT
// The formats that a report may have: one row per format, in the order in which they are offered.
#pragma once
#include <array>
#include <string_view>

namespace paceline {

struct ReportFormat {
  std::string_view name;
  std::string_view file;  // its name in a folder
  std::string_view description;
};
inline constexpr std::array<ReportFormat, 12> kReportFormats{{
    {"html", "report.html", "one self-contained page with charts, for reading and printing"},
    {"markdown", "report.md", "one page for a ticket: sentence, table, warnings, how to reproduce"},
    {"csv", "report.csv", "one row a case, every metric with its interval"},
    {"study", "benchmark_results.csv",
     "CSV of few columns: model, configuration, batch, average latency, throughput, memory"},
    {"collectives", "collectives.csv",
     "CSV of sweeps: one row a size, place and way of timing, with intervals"},
    {"json", "report.json", "everything, as stored"},
    {"text", "report.txt", "the table of the terminal"},
    {"nccl", "nccl_tests.txt", "collectives in the columns of nccl-tests, for scripts that read those"},
    {"nccl-json", "nccl_tests.json", "the same in the JSON of nccl-tests"},
    {"pdf", "report.pdf", "the page on paper, printed by an installed Chromium or Chrome"},
    {"svg", "charts", "a folder of every chart, and benchmark_results.csv"},
    {"png", "charts", "the same as pictures, made by rsvg-convert, Chromium or Chrome"},
}};

}  // namespace paceline
