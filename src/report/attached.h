// SPDX-License-Identifier: MIT
// Words what is known of an attached job besides its steady steps.
#pragma once
#include "analysis/traces/trace_study.h"
#include "answer/answer.h"
#include "base/json.h"

namespace paceline::report {

// Adds the tables of exchanges, other time and disturbances, and what watching costs. The study is of an
// attached job.
void add_attached(const analysis::traces::TraceStudy& study, answer::Answer& answer);
nlohmann::json attached_json(const analysis::traces::AttachedStudy& attached);

}  // namespace paceline::report
