// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace paceline::report {

// A nested record as rows of text: "cpu.model" → "EPYC"; null becomes "not known", lists of words one line.
std::vector<std::pair<std::string, std::string>> flat_rows(const nlohmann::json& record);

// The machine in one line from the fields an environment record has: CPU, cores, memory, libraries.
std::string machine_line(const nlohmann::json& environment);

}  // namespace paceline::report
