// SPDX-License-Identifier: MIT
// Finds the case of one run that is the same as a case of another: by what it measures, never by its place.
#pragma once
#include <string>
#include <vector>

#include "result/stored/run_result.h"

namespace paceline::compare {

// --match OLD=NEW: an id, a label, or words of labels.
struct Match {
  std::string from, to;
};
// Throws Error(kUsage) for text without "=" or with an empty side.
Match parse_match(const std::string& text);

struct MatchedCase {
  const result::CaseResult* a = nullptr;
  const result::CaseResult* b = nullptr;
  std::string differs{};  // words in which their labels differ: "onnxruntime → openvino"
};

struct Matching {
  std::vector<MatchedCase> cases;  // in the order of A
  std::vector<const result::CaseResult*> only_a, only_b;
};

// Cases with equal identities match, then those that `matches` name; a single case on each side matches
// whatever it measures. Throws Error(kUsage) where no case has a partner, where a match names no case, and
// for cases of two kinds.
Matching match_cases(const result::RunResult& a, const result::RunResult& b,
                     const std::vector<Match>& matches);

// Label of a case, or its id in results without labels.
const std::string& label_of(const result::CaseResult& one);

}  // namespace paceline::compare
