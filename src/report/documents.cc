// SPDX-License-Identifier: MIT
#include "report/documents.h"

#include "result/result_json.h"
#include "result/run_directory.h"

namespace paceline::report {

std::string render_text(std::span<const ReportRun> runs, const RenderOptions& options) {
  return terminal_table(runs, options.terminal);
}

// The rows of summary.csv; the first column names the run.
std::string render_csv(std::span<const ReportRun> runs, const RenderOptions&) {
  std::string out;
  for (const ReportRun& run : runs) {
    const std::string csv = result::summary_csv(run.result);
    out += out.empty() ? csv : csv.substr(csv.find('\n') + 1);
  }
  return out;
}

std::string render_json(std::span<const ReportRun> runs, const RenderOptions&) {
  if (runs.size() == 1) return result::json_text(result::to_json(runs.front().result));
  nlohmann::json all = {{"schema_version", result::kSchemaVersion}, {"runs", nlohmann::json::array()}};
  for (const ReportRun& run : runs) all["runs"].push_back(result::to_json(run.result));
  return result::json_text(all);
}

}  // namespace paceline::report
