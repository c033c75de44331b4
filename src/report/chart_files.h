// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <vector>

#include "report/format.h"

// The charts of a report as files.
namespace paceline::report {

struct ChartFile {
  std::string name;  // without its ending
  std::string svg;
};

struct ChartFiles {
  std::vector<ChartFile> files;
  std::vector<std::string> left_out;  // "loss, total_time: no case trained"
};

// Every chart that the page has, and those of the comparisons that the page leaves out.
ChartFiles chart_files(std::span<const ReportRun> runs, const RenderOptions& options);

}  // namespace paceline::report
