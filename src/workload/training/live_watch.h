// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pass/records.h"
#include "plugin/rank_group.h"
#include "result/stored/rank_steps.h"
#include "result/stored/training.h"
#include "workload/training/rank_observer.h"

namespace paceline::workload {

// Parts that a watch reads and notifies.
struct WatchParts {
  plugin::RankGroup* group = nullptr;                                       // null: a single rank
  std::function<result::RankSteps(std::vector<result::StepRow>)> table_of;  // of this rank
  std::function<void(const std::string&)> warn;                             // of rank 0
  RankObserver observer;
};

// Looks at the last steps of all ranks while they train: every few seconds rank 0 gets them, and tells the
// user who keeps the others waiting. Its collectives lie between steps, and no rank leaves the last one
// before all have come, so that they make no rank late.
class LiveWatch {
 public:
  explicit LiveWatch(WatchParts parts) : parts_(std::move(parts)) {}

  // To be called between two steps, in the same way on every rank, with all rows so far.
  void between_steps(const std::vector<result::StepRow>& rows);
  // On rank 0, as of the last look.
  [[nodiscard]] const std::optional<pass::SlowestRank>& slowest() const { return slowest_; }

 private:
  void open_window(const std::vector<result::StepRow>& rows);
  void exchange(const std::vector<result::StepRow>& rows);
  void judge(const std::vector<std::string>& tables, std::int64_t steps);

  WatchParts parts_;
  bool begun_ = false;
  std::size_t begin_ = 0, end_ = 0;  // of the window, in rows: the same on all ranks
  std::optional<pass::SlowestRank> slowest_;
  bool warned_of_sync_ = false;
  std::set<std::int64_t> warned_of_;  // late ranks
};

}  // namespace paceline::workload
