// SPDX-License-Identifier: MIT
#include "result/stored_steps.h"

#include <fmt/format.h>

#include "result/stored/step_file.h"

namespace paceline::result {

std::vector<RankSteps> read_rank_steps(const StoredRun& stored, const CaseResult& one) {
  if (!one.training() || one.repetitions.empty()) return {};
  const auto file = folder_of_case(stored, one.case_id) / "passes" /
                    fmt::format("timed-{}.steps.bin", one.repetitions.back().index);
  return std::filesystem::exists(file) ? read_step_file(file).ranks : std::vector<RankSteps>();
}

}  // namespace paceline::result
