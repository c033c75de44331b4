// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/stored/run_result.h"

// Predicts the step time of data-parallel training under a change, from measurements (ranks: what if).
// Times are in ns.
namespace paceline::analysis {

struct Change {
  std::string key;    // link | bucket_cap_mb | comm_hook | batch | stragglers | loader
  std::string value;  // as it was written: 2x, 50, fp16_compress, 64, none, fast
  [[nodiscard]] std::string text() const { return key + "=" + value; }
};
// "link=2x,bucket_cap_mb=50". Error(kUsage) names the keys, and the values of a key.
std::vector<Change> parse_changes(const std::string& text);

struct Answer {
  std::string change;   // the changes, in words of parse_changes
  std::string refused;  // why there is no answer; empty: there is
  double step_ns = 0;
  double saving_ns = 0, low_ns = 0, high_ns = 0;  // of a step, and its range
  double speed_up = 1;                            // of throughput
  std::string advice;                             // what to do for it; of recommendations only
};

// Whether a case can be predicted: it trained on several ranks with DDP.
bool is_on_several_ranks(const result::CaseResult& one);

// An answer for each change by itself and, with several, for all of them together.
std::vector<Answer> what_if(const result::RunResult& run, const result::CaseResult& one,
                            const std::vector<Change>& changes);

// Changes that can be made without another machine and save at least 2 % of a step even at the low end of
// their range, the largest saving first. Empty: nothing is worth it, or nothing can be said.
std::vector<Answer> recommendations(const result::RunResult& run, const result::CaseResult& one);

}  // namespace paceline::analysis
