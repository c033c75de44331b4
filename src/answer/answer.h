// SPDX-License-Identifier: MIT
// Findings of a command as values: any wing makes an answer, and every form (answer/render) shows it.
#pragma once
#include <string>
#include <vector>

#include "answer/section.h"
#include "answer/verdict.h"
#include "base/exit_code.h"
#include "base/json.h"

namespace paceline::answer {

// One question with its verdict: a gate, a check of the machine, a test in JUnit.
struct Check {
  std::string name;
  Verdict verdict = Verdict::kYes;
  std::string text{};             // facts, one line
  std::string fix{};              // what to do; empty: nothing
  ExitCode exit = ExitCode::kOk;  // adds to the exit code of the answer
  std::string group = "checks";   // suite in JUnit
  double seconds = 0;
};

// A sentence worth reporting, with its evidence.
struct Finding {
  std::string id;        // e.g. precision_speedup
  std::string severity;  // insight | advice | warning | problem
  std::string text;      // one sentence with figures and interval
  std::string evidence{};
  std::string advice{};              // what to do; may be empty
  std::vector<std::string> about{};  // ids of what it concerns: cases of a run, hosts of a fleet
  std::string cost{};                // "costs 3.1 ms of a step", or empty; not stored with a run
};

struct Answer {
  std::string title;     // "machine", "traces of 2 ranks"
  std::string sentence;  // the answer in one sentence, last on a terminal and first everywhere else
  std::vector<Check> checks{};
  std::vector<Finding> findings{};  // the most severe first
  Sections sections{};
  std::vector<std::string> remarks{};              // what was left out, and why
  nlohmann::json data = nlohmann::json::object();  // figures for programs, by the wing's own names
};

// The most severe of them, by the precedence of `worse`; without any kSkipped, and kOk of a whole answer.
ExitCode exit_code_of(const std::vector<Check>& checks);
ExitCode exit_code_of(const Answer& answer);

}  // namespace paceline::answer
