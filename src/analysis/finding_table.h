// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "result/run_result.h"

namespace paceline::analysis {

// A finding is one row: what is looked for, how grave it is, and the function that finds it.
// "Faster" and "slower" stand in a text only where may_claim() holds; a row returns its strongest case first.
struct FindingRule {
  std::string_view id;
  std::string_view severity;  // problem | warning | advice | insight
  std::string_view looks_for;
  std::vector<result::Finding> (*find)(const result::RunResult&);
};

std::span<const FindingRule> finding_rules();

// Everything all rules find, in the order of the table; id and severity come from the row.
std::vector<result::Finding> find_all(const result::RunResult& run);

// The few a reader should see first, gravest first: at most `limit`, one of a kind before a second of the
// same, and up to two places kept for what the numbers say when there are many problems.
std::vector<result::Finding> rank_findings(const std::vector<result::Finding>& all, std::size_t limit = 5);

}  // namespace paceline::analysis
