// SPDX-License-Identifier: MIT
// Turns an environment record into rows of text.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "result/stored/run_result.h"

namespace paceline::report {

// A nested record as rows: "cpu.model" → "EPYC"; null becomes "not known", a list of words becomes one line.
std::vector<std::pair<std::string, std::string>> flat_rows(const nlohmann::json& record);

// The machine in one line, from the fields that the record has: CPU, cores, memory, governor, kernel.
std::string machine_line(const nlohmann::json& environment);

// The first digits of the commit of the user's sources, and whether files differ from it; empty without one.
std::string commit_words(const nlohmann::json& environment);

// The lines that the user wrote about the run.
std::vector<std::string> notes_of(const nlohmann::json& environment);

// The libraries that engines reported with their versions, each once; empty without any.
std::string library_line(const result::RunResult& run);

}  // namespace paceline::report
