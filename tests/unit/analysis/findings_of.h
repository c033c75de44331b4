// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "analysis/finding_table.h"

namespace paceline::analysis {

// Today's findings of one rule.
inline std::vector<result::Finding> of_kind(const result::RunResult& run, const std::string& id) {
  auto found = find_all(run);
  std::erase_if(found, [&](const result::Finding& finding) { return finding.id != id; });
  return found;
}

}  // namespace paceline::analysis
