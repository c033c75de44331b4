// SPDX-License-Identifier: MIT
// The table of cases, with the columns that a form has room for.
#pragma once
#include <span>

#include "report/section.h"

namespace paceline::report {

Table case_table(std::span<const ReportRun> runs, Form form);

}  // namespace paceline::report
