// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugin/rank_group.h"
#include "plugin/trainer.h"
#include "result/training.h"
#include "workload/pass_records.h"
#include "workload/training/checkpoint_writer.h"
#include "workload/training/data/loader.h"

namespace paceline::workload {

// The checkpoints of one rank while it trains: where it goes on from, when one is due, what they cost. Does
// nothing where checkpoint.dir is empty. Repetitions after the first have folders of their own.
class CheckpointKeeper {
 public:
  // `group`: null for a rank that is alone. All outlive this.
  CheckpointKeeper(const PassSpec& spec, plugin::Trainer& trainer, Loader& loader, plugin::RankGroup* group,
                   TaggedSink& sink);

  // Takes up the newest good checkpoint where that was asked for. How many steps are done then. A collective.
  // Throws Error(kConfig): the folder holds another run's; Error(kData): none there can be continued.
  std::int64_t open();
  // After `step` steps: writes one when it is due, or now, unless there is one of this step. The same calls
  // on every rank.
  void save_when_due(std::int64_t step);
  void save(std::int64_t step);
  // Writes the last one, and waits until it is there.
  void close(std::int64_t step);

  [[nodiscard]] bool enabled() const { return !spec_.dir.empty(); }
  [[nodiscard]] const std::string& folder() const { return spec_.dir; }
  // Times of this rank, bytes of all. A collective.
  [[nodiscard]] result::CheckpointFigures figures() const;

 private:
  [[nodiscard]] bool leads() const { return rank_ == 0; }
  std::int64_t resume();
  [[nodiscard]] std::int64_t choose_step();
  void tell_resumed(const Checkpoint& checkpoint);
  void refuse_another_run() const;

  CheckpointSpec spec_;
  ScheduleSpec schedule_;
  CheckpointOwner owner_;
  int rank_;
  plugin::Trainer& trainer_;
  Loader& loader_;
  plugin::RankGroup* group_;
  TaggedSink& sink_;
  std::optional<CheckpointWriter> writer_;
  double group_timeout_s_;
  std::vector<CheckpointCost> written_;
  std::int64_t saved_step_ = -1;
  result::CheckpointFigures figures_;  // of reading
};

}  // namespace paceline::workload
