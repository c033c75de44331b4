// SPDX-License-Identifier: MIT
// Reads and writes results as JSON.
#pragma once
#include <string>

#include "base/json.h"
#include "result/stored/case_result.h"
#include "result/stored/run_result.h"

namespace paceline::result {

// Fields that this version does not know are written back.
nlohmann::json to_json(const CaseResult& result);
nlohmann::json to_json(const RunResult& run);

// Throws Error(kData) naming the first wrong field; `origin` names the file in the message.
CaseResult case_from_json(nlohmann::json json, const std::string& origin);
RunResult run_from_json(nlohmann::json json, const std::string& origin);

// Indented, with a newline at the end; bytes that are not UTF-8 (of a log, of a crashed worker) become
// U+FFFD.
std::string json_text(const nlohmann::json& json);

// Parses JSON; the error is a message for people.
nlohmann::json parse_json(const std::string& text, const std::string& origin);

// JSON Schema of result.json / run_summary.json, derived from the field lists.
nlohmann::json result_json_schema();

}  // namespace paceline::result
