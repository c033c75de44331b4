// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "result/run_result.h"

namespace paceline::report {

// A nested record as rows of text: "cpu.model" → "EPYC"; null becomes "not known", lists of words one line.
std::vector<std::pair<std::string, std::string>> flat_rows(const nlohmann::json& record);

// The machine in one line from the fields an environment record has: CPU, cores, memory, governor, kernel.
std::string machine_line(const nlohmann::json& environment);

// The libraries the engines reported with their versions, each once; empty where none was.
std::string library_line(const result::RunResult& run);

}  // namespace paceline::report
