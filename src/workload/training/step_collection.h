// SPDX-License-Identifier: MIT
// Brings the step tables of all ranks to rank 0, which writes them into one file.
#pragma once
#include <filesystem>
#include <optional>

#include "plugin/rank_group.h"
#include "result/step_file.h"

namespace paceline::workload {

// What the steps are of.
struct StepOrigin {
  std::int64_t repetition = 0;
  bool interrupted = false;
};

// Tables travel in pieces of a bounded size, whatever their length and the number of ranks. A collective of
// `group`, which may be null. Rank 0 returns the mark of the finished file, the others nothing.
std::optional<result::StepFileMark> collect_steps(plugin::RankGroup* group, const result::RankSteps& mine,
                                                  const StepOrigin& origin,
                                                  const std::filesystem::path& file);

}  // namespace paceline::workload
