// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <span>

#include "cli/context.h"
#include "cli/documents.h"
#include "report/format_table.h"

namespace paceline::cli {

// Throws Error(kUsage) for formats that cannot be written to standard output.
void check_standard_output(std::span<const report::Format* const> formats);

// One format of a report, to be written.
struct Delivery {
  const report::Format& format;
  std::span<const report::ReportRun> runs;
  const report::RenderOptions& options;
  std::filesystem::path output;  // as asked for; empty: as the format has it
  std::filesystem::path folder;  // of the first run
  const Console& console;
};

// Texts go to standard output, the page and its print beside the run, charts into charts/ beside it, unless
// an output is named. Nothing is written before all of it is made. Throws Error(kUnavailable) naming the
// packages that bring a missing program.
void deliver(const Delivery& delivery);

}  // namespace paceline::cli
