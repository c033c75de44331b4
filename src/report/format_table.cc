// SPDX-License-Identifier: MIT
#include "report/format_table.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "report/collectives.h"
#include "report/nccl_tests.h"

namespace paceline::report {
namespace {

constexpr std::array kFormats{
    Format{"html", "report.html", "one self-contained page with charts, for reading and printing",
           render_html, FormatKind::kPage, true},
    Format{"markdown", "report.md", "one page for a ticket: sentence, table, warnings, how to reproduce",
           render_markdown, FormatKind::kText, true},
    Format{"csv", "report.csv", "one row per case, every metric with its interval", render_csv},
    Format{"study", "benchmark_results.csv",
           "CSV of few columns: model, configuration, batch, average latency, throughput, memory",
           render_study},
    Format{"collectives", "collectives.csv",
           "CSV of sweeps: one row per size, place and way of timing, with intervals", render_collectives},
    Format{"json", "report.json", "everything, as stored", render_json},
    Format{"text", "report.txt", "the table of the terminal", render_text, FormatKind::kText, true},
    Format{"nccl", "nccl_tests.txt", "collectives in the columns of nccl-tests, for scripts that read those",
           render_nccl},
    Format{"nccl-json", "nccl_tests.json", "the same in the JSON of nccl-tests", render_nccl_json},
    Format{"pdf", "report.pdf", "the page on paper, printed by an installed Chromium or Chrome", render_html,
           FormatKind::kPaper, true},
    Format{"svg", "charts", "a folder of every chart, and benchmark_results.csv", nullptr,
           FormatKind::kDrawings},
    Format{"png", "charts", "the same as pictures, made by rsvg-convert, Chromium or Chrome", nullptr,
           FormatKind::kImages},
};

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

const Format& find_format(std::string_view name) {
  std::vector<std::string> names;
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  const auto close = nearest_name(name, names);
  throw Error(ErrorCode::kUsage,
              fmt::format("report format '{}' is not available; {}", name,
                          close ? "did you mean '" + *close + "'?" : "formats: " + join(names, ", ")));
}

}  // namespace paceline::report
