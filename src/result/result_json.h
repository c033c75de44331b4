// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "result/case_result.h"
#include "result/run_result.h"

namespace paceline::result {

// Fields this version does not know, read from a file, are written back.
nlohmann::json to_json(const CaseResult& result);
nlohmann::json to_json(const RunResult& run);

// Throws Error(kData) naming the first wrong field; `origin` is the file's name for the message.
CaseResult case_from_json(const nlohmann::json& json, const std::string& origin);
RunResult run_from_json(const nlohmann::json& json, const std::string& origin);

// Indented, with a newline at the end; bytes that are no UTF-8 (of a log, of a crashed worker) become U+FFFD.
std::string json_text(const nlohmann::json& json);

// Text to JSON with a message a person understands.
nlohmann::json parse_json(const std::string& text, const std::string& origin);

// JSON Schema of result.json / run_summary.json, derived from the field lists.
nlohmann::json result_json_schema();

}  // namespace paceline::result
