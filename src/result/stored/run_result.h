// SPDX-License-Identifier: MIT
// One run as plain data: its cases, findings and gates.
#pragma once
#include <string>
#include <vector>

#include "answer/answer.h"
#include "base/json.h"
#include "result/stored/case_result.h"

namespace paceline::result {

// Rows of the finding table: analysis/finding_table.h. `about`: ids of cases.
using Finding = answer::Finding;

// An `expect:` gate and how it was decided on the interval.
struct GateResult {
  std::string expression;  // as written
  std::string case_id;
  std::string metric;
  answer::ExpectationVerdict verdict;
  std::string detail;
  std::string invalid{};  // why the environment allows no verdict, which is exit code 4; empty: it does
};

struct Suite {
  std::string version, git_sha, build_type, compiler;
};

// The outcome of a run in progress; it stays when the run is killed.
inline constexpr const char* kUnfinished = "unfinished";

// run_summary.json: all cases of one run. outcome: ok | failed | interrupted | unfinished.
struct RunResult {
  std::string schema_version = kSchemaVersion;
  Suite suite;
  std::string experiment_name;
  std::string run_id;
  std::string folder;  // where it is written, for commands in findings; not stored
  std::string started_utc;
  std::vector<std::string> resumed_utc;  // when --resume continued it
  std::string finished_utc;              // empty while running
  std::string command_line;
  std::string outcome = kUnfinished;
  int exit_code = 0;
  std::string sentence;  // the answer, in the lines that close the text of the terminal
  std::vector<CaseResult> cases;
  std::vector<Finding> findings;
  std::vector<GateResult> gates;
  std::vector<std::string> warnings;
  nlohmann::json environment = nlohmann::json::object();  // environment.json, inlined for reports
  nlohmann::json unknown = nlohmann::json::object();
};

}  // namespace paceline::result
