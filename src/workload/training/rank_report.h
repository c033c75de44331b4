// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plugin/rank_group.h"
#include "result/stored/rank_steps.h"
#include "result/stored/step_file.h"
#include "result/stored/training.h"
#include "workload/training/training_rank.h"

// Writes what a rank tells at the end of a pass.
namespace paceline::workload {

// Origin of the steps.
struct StepOrigin {
  std::int64_t repetition = 0;
  bool interrupted = false;
};

// Tables travel in pieces of a bounded size, whatever their length and the number of ranks. A collective of
// `group`, which may be null. Rank 0 returns the mark of the finished file, the others nothing.
std::optional<result::StepFileMark> collect_steps(plugin::RankGroup* group, const result::RankSteps& mine,
                                                  const StepOrigin& origin,
                                                  const std::filesystem::path& file);

// Where this rank ran, what its loader could deliver, and its steps.
result::RankSteps steps_of(TrainingRank& rank, std::vector<result::StepRow> rows);

// Report of a rank at its end.
struct RankReport {
  std::vector<result::StepRow> rows;
  result::RankEvidence evidence;
  std::vector<result::HeldOutFigures> held_out;
  bool interrupted = false;
};
// Rank 0 reports the steps of all ranks and its own figures of held-out data. A collective.
void report_steps(TrainingRank& rank, RankReport report);

// Facts about a training that only a worker knows: backend, parameters, buckets, fingerprint.
result::Training known_here(TrainingRank& rank);

}  // namespace paceline::workload
