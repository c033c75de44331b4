// SPDX-License-Identifier: MIT
// The output of nccl-tests; its table also in pieces, for whoever prints a sweep while it is measured.
#pragma once
#include <string>

#include "report/format.h"
#include "report/report_run.h"

namespace paceline::report {

Format::Render render_nccl, render_nccl_json;

// "# comm 20261126T170000Z-12ab", once for a run.
std::string nccl_title(const std::string& title, const std::string& run_id);
// The lines of a case above its rows: name, ranks, columns.
std::string nccl_head(const ReportCase& entry);
std::string nccl_row(const result::CollectiveResult& c, const result::CollectiveSizeFigures& size);
// Lines below its rows: why it did not end, wrong elements, average bus bandwidth.
std::string nccl_foot(const CaseResult& one);

}  // namespace paceline::report
