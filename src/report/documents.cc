// SPDX-License-Identifier: MIT
// Writes the formats for other programs.
#include <fmt/format.h>

#include "analysis/case_query.h"
#include "analysis/metric_value.h"
#include "base/csv_cell.h"
#include "base/text.h"
#include "report/case_cells.h"
#include "report/format_table.h"
#include "result/judged/noise_rules.h"
#include "result/metric_table.h"
#include "result/run_directory.h"
#include "result/stored/result_json.h"

namespace paceline::report {
namespace {

// The label without the parts that have columns: "eager fp32 channels_last".
std::string configuration_of(const result::CaseResult& one) {
  const auto& b = one.benchmark;
  std::vector<std::string> words;
  for (const std::string& word : split(one.label, ' '))
    if (word != b.model && word != "b" + std::to_string(b.batch_per_rank)) words.push_back(word);
  return join(words, " ");
}

}  // namespace

// The rows of summary.csv; the first column names the run.
std::string render_csv(std::span<const ReportRun> runs, const RenderOptions&) {
  return one_below_another(runs, result::summary_csv);
}

// One row per case; what was not measured is an empty cell, and the outcome tells why.
std::string render_study(std::span<const ReportRun> runs, const RenderOptions&) {
  std::string out =
      "model,configuration,batch_size,average_latency_ms,throughput_per_s,item,memory_mb,outcome,run_id,"
      "grade,repetitions,run_outcome\n";
  const auto figure = [](const result::CaseResult& one, const char* name) {
    const auto value = analysis::metric_value(*result::find_metric(name), one).value;
    return value ? fmt::format("{:.9g}", *value) : std::string();
  };
  for (const ReportCase& entry : side_by_side(runs)) {
    const result::CaseResult& one = *entry.one;
    const auto& b = one.benchmark;
    std::vector<std::string> cells{b.model,
                                   configuration_of(one),
                                   std::to_string(b.batch_per_rank),
                                   figure(one, "mean_ms"),
                                   figure(one, "throughput_per_s"),
                                   one.throughput.item,
                                   figure(one, "memory_mb"),
                                   analysis::is_ok(one) ? "ok" : outcome_text(one),
                                   entry.run->result.run_id,
                                   std::string(1, grade_letter(one.grade)),
                                   std::to_string(one.repetitions.size()),
                                   entry.run->result.outcome};
    for (auto& cell : cells) cell = csv_cell(cell);
    out += join(cells, ",") + "\n";
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
