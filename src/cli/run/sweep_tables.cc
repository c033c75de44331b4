// SPDX-License-Identifier: MIT
#include "cli/run/sweep_tables.h"

#include <filesystem>
#include <utility>

#include "report/nccl_tests.h"

namespace paceline::cli {

void SweepTables::run_begins(const run::RunOverview& overview) {
  title_ = overview.experiment_name;
  run_id_ = std::filesystem::path(overview.run_dir).filename().string();
}

// `part` has the size that was measured last alone.
void SweepTables::part_measured(const result::CaseResult& part) {
  view_.document(row(part));
}

void SweepTables::case_ends(const result::CaseResult& result) {
  const auto printed = printed_.find(result.case_id);
  if (printed != printed_.end() && !printed->second.closed) view_.document(rest(result));
}

void SweepTables::run_ends(const result::RunResult& run) {
  std::string text;
  for (const auto& one : run.cases) text += rest(one);
  if (!text.empty()) view_.document(text);
}

std::string SweepTables::head(const result::CaseResult& one) {
  const auto title = std::exchange(titled_, true) ? std::string() : report::nccl_title(title_, run_id_);
  return title + report::nccl_head(report::alone(one));
}

std::string SweepTables::row(const result::CaseResult& part) {
  const auto& c = *part.collective();
  const auto row = report::nccl_row(c, c.sizes.back());
  if (part.repetitions_planned > 1) {
    const bool other = std::exchange(commented_, part.case_id) != part.case_id;
    return (other ? report::nccl_head(report::alone(part)) : std::string()) + "#" + row.substr(1);
  }
  auto& printed = printed_[part.case_id];
  return (printed.rows++ == 0 ? head(part) : std::string()) + row;
}

std::string SweepTables::rest(const result::CaseResult& one) {
  if (!one.collective()) return {};
  auto& printed = printed_[one.case_id];
  if (std::exchange(printed.closed, true)) return {};
  const auto& c = *one.collective();
  auto text = printed.rows == 0 ? head(one) : std::string();
  for (; printed.rows < c.sizes.size(); ++printed.rows) text += report::nccl_row(c, c.sizes[printed.rows]);
  return text + report::nccl_foot(one);
}

}  // namespace paceline::cli
