// SPDX-License-Identifier: MIT
// Words what the traces of another program say.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/traces/trace_study.h"

namespace paceline::report {

// `kernels`: operators with the kernels that they launched.
std::string text_of(const analysis::traces::TraceStudy& study, bool kernels = false);
nlohmann::json to_json(const analysis::traces::TraceStudy& study, bool kernels = false);

}  // namespace paceline::report
