// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "result/stored/case_result.h"

// Decides which repetitions of two cases may be compared (methodology: neighbours in time).
namespace paceline::result {

struct Pairing {
  // Pairs of the same index, one of each case; in the order of the index.
  std::vector<std::pair<const Repetition*, const Repetition*>> neighbours;
  std::int64_t apart = 0;  // repetitions of the same index that ran at other times
};

// Two repetitions with the same index are neighbours unless another repetition of either case began between
// their starts, or --resume did (`resumed_utc`). In cases of two runs a start in the same second counts as
// between. A repetition without a start time counts as a neighbour of one of the same run.
Pairing pair_repetitions(const CaseResult& a, const CaseResult& b,
                         const std::vector<std::string>& resumed_utc);

// Whether most repetitions of the two cases are neighbours, so that the cases may be compared at all.
bool in_turns(const CaseResult& a, const CaseResult& b, const std::vector<std::string>& resumed_utc);

}  // namespace paceline::result
