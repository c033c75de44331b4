// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "answer/answer.h"

// The table behind `validate`: a list of rows, to which every layer above may add its own.
namespace paceline::host {

using answer::Verdict;

struct CheckResult {
  Verdict status = Verdict::kYes;
  std::string text;  // the facts, one line
  std::string fix;   // advice in one line; empty when nothing is to be done
};

// Uses that a machine can be fit for; a FAIL makes it unfit for those that need the check.
enum class Purpose { kInference, kMultiRankTraining };

struct Check {
  std::string name;  // as shown: "shared memory"
  std::vector<Purpose> needed_by;
  std::function<CheckResult()> run;
};

struct CheckedRow {
  std::string name;
  std::vector<Purpose> needed_by;
  CheckResult result;
};

// Runs all checks in order; one that throws is a FAIL with the message as its text.
std::vector<CheckedRow> run_checks(const std::vector<Check>& checks);

// "1 failed, 1 warning: not fit for multi-rank training, fit for inference"
std::string verdict_line(const std::vector<CheckedRow>& rows);

// A row as a check of an answer; a FAIL gives exit code 4.
answer::Check check_of(const CheckedRow& row);

// Its data are {"verdict": …, "failed": 1, "warnings": 1, "fit_for": […]}.
answer::Answer answer_of(const std::vector<CheckedRow>& rows);

}  // namespace paceline::host
