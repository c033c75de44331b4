// SPDX-License-Identifier: MIT
#include "cli/sweep_tables.h"

#include <utility>

#include "report/nccl_tests.h"

namespace paceline::cli {

std::string SweepTables::head(const result::CaseResult& one) {
  const auto title = std::exchange(titled_, true) ? std::string() : report::nccl_title(title_, run_id_);
  return title + report::nccl_head(report::alone(one));
}

std::string SweepTables::row(const result::CaseResult& part) {
  const auto& c = *part.collective;
  const auto row = report::nccl_row(c, c.sizes.back());
  if (part.repetitions_planned > 1) {
    const bool other = std::exchange(commented_, part.case_id) != part.case_id;
    return (other ? report::nccl_head(report::alone(part)) : std::string()) + "#" + row.substr(1);
  }
  auto& printed = printed_[part.case_id];
  return (printed.rows++ == 0 ? head(part) : std::string()) + row;
}

bool SweepTables::is_open(const result::CaseResult& one) const {
  const auto found = printed_.find(one.case_id);
  return found != printed_.end() && !found->second.closed;
}

std::string SweepTables::rest(const result::CaseResult& one) {
  if (!one.collective) return {};
  auto& printed = printed_[one.case_id];
  if (std::exchange(printed.closed, true)) return {};
  const auto& c = *one.collective;
  auto text = printed.rows == 0 ? head(one) : std::string();
  for (; printed.rows < c.sizes.size(); ++printed.rows) text += report::nccl_row(c, c.sizes[printed.rows]);
  return text + report::nccl_foot(one);
}

}  // namespace paceline::cli
