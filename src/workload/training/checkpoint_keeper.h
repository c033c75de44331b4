// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/patient_barrier.h"
#include "plugin/rank_group.h"
#include "plugin/trainer.h"
#include "result/training.h"
#include "workload/pass_records.h"
#include "workload/training/checkpoint_lock.h"
#include "workload/training/checkpoint_writer.h"
#include "workload/training/data/loader.h"

namespace paceline::workload {

// What the checkpoints of a rank are made of and told to. All outlive the keeper.
struct KeeperParts {
  plugin::Trainer& trainer;
  Loader& loader;
  plugin::RankGroup* group;  // both null for a rank that is alone
  plugin::Store* store;
  TaggedSink& sink;
  std::function<void(std::int64_t step)> while_saving{};  // a fault on purpose
};

// The checkpoints of one rank while it trains: where it goes on from, when one is due, what they cost. Does
// nothing where checkpoint.dir is empty. Repetitions after the first have folders of their own. Ranks wait
// for one that writes or reads as long as checkpoint.timeout_s, which is longer than a collective waits; who
// watches them learns of it by the phases "checkpoint" and "checkpoint_wait".
class CheckpointKeeper {
 public:
  CheckpointKeeper(const PassSpec& spec, const KeeperParts& parts);

  // Takes up the newest good checkpoint where that was asked for. How many steps are done then. A collective.
  // Throws Error(kConfig): the folder holds another run's, another writes into it, or none there can be
  // continued.
  std::int64_t open();
  // After `step` steps: writes one when it is due, or now, unless there is one of this step. The same calls
  // on every rank. Throws Error(kInternal) with step and rank where numbers are not finite, and then writes
  // none; what CheckpointWriter::save and PatientBarrier::wait throw.
  void save_when_due(std::int64_t step);
  void save(std::int64_t step);
  // Writes the last one, and waits until it is there.
  void close(std::int64_t step);

  [[nodiscard]] bool enabled() const { return !spec_.dir.empty(); }
  [[nodiscard]] const std::string& folder() const { return spec_.dir; }
  // What a reader of the figures must know, in words; empty: nothing.
  [[nodiscard]] const std::string& remark() const { return remark_; }
  // Times of this rank, bytes of all. A collective.
  [[nodiscard]] result::CheckpointFigures figures() const;

 private:
  [[nodiscard]] bool leads() const { return rank_ == 0; }
  std::int64_t resume();
  void write(std::int64_t step);
  [[nodiscard]] std::int64_t choose_step();
  void tell_resumed(const Checkpoint& checkpoint);
  void refuse_another_run() const;

  CheckpointSpec spec_;
  ScheduleSpec schedule_;
  CheckpointOwner owner_;
  int rank_;
  KeeperParts parts_;
  cluster::PatientBarrier all_;
  std::optional<CheckpointLock> lock_;  // of rank 0
  std::optional<CheckpointWriter> writer_;
  std::vector<CheckpointCost> written_;
  std::int64_t saved_step_ = -1;
  std::string remark_;
  result::CheckpointFigures figures_;  // of reading
};

}  // namespace paceline::workload
