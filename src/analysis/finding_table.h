// SPDX-License-Identifier: MIT
// The table of findings, and the choice of the few that are shown.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "result/stored/run_result.h"

namespace paceline::analysis {

// A finding is one row: its id, its severity, and the function that finds it. "Faster" and "slower" appear in
// a text only where may_claim() holds; a row returns its strongest case first.
struct FindingRule {
  std::string_view id;
  std::string_view severity;  // problem | warning | advice | insight
  std::vector<result::Finding> (*find)(const result::RunResult&);
};

std::span<const FindingRule> finding_rules();

// Everything that the rules find, in table order; id and severity come from the row.
std::vector<result::Finding> find_all(const result::RunResult& run);

// The few that a reader should see first, most severe first: all that concern the answers of a case, and
// others up to `limit` altogether, one of a kind before a second of it, with up to two places for insights.
std::vector<result::Finding> rank_findings(const std::vector<result::Finding>& all, std::size_t limit = 5);

// Like rank_findings, with those about grades last where all measured cases have the same grade.
std::vector<result::Finding> shown_findings(const result::RunResult& run,
                                            const std::vector<result::Finding>& all, std::size_t limit = 5);

}  // namespace paceline::analysis
