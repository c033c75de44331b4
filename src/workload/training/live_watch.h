// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "workload/training/rank_observer.h"
#include "workload/training/training_rank.h"

namespace paceline::workload {

// Looks at the last steps of all ranks while they train: every few seconds rank 0 gets them, and tells the
// user who keeps the others waiting. Its collectives lie between steps and end on all ranks together, so that
// they make no rank late.
class LiveWatch {
 public:
  // `rank` outlives this.
  explicit LiveWatch(TrainingRank& rank)
      : rank_(rank), observer_(rank.processes_of_host(), rank.spec().ranks.device) {}

  // To be called between two steps, in the same way on every rank, with all rows so far.
  void look(const std::vector<result::StepRow>& rows);
  // On rank 0, as of the last look.
  [[nodiscard]] const std::string& slowest() const { return slowest_; }

 private:
  void open_window(const std::vector<result::StepRow>& rows);
  void exchange(const std::vector<result::StepRow>& rows);
  void judge(const std::vector<std::string>& tables, std::int64_t steps);

  TrainingRank& rank_;
  RankObserver observer_;
  bool begun_ = false;
  std::size_t begin_ = 0, end_ = 0;  // of the window, in rows: the same on all ranks
  std::string slowest_;
  std::set<std::optional<std::int64_t>> warned_of_;  // late ranks; none: synchronisation alone
};

}  // namespace paceline::workload
