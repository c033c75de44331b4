// SPDX-License-Identifier: MIT
// Keeps the checkpoints of a rank while it trains.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/handle.h"
#include "cluster/patient_barrier.h"
#include "plugin/rank_group.h"
#include "plugin/trainer.h"
#include "result/stored/training.h"
#include "workload/pass_records.h"
#include "workload/training/checkpoint_writer.h"
#include "workload/training/data/loader.h"
#include "workload/training/kept_weights.h"

namespace paceline::workload {

// Locks a checkpoint folder: while it lives no other run writes checkpoints into the folder. Best effort:
// some shared file systems know no locks, or none between hosts; nobody is refused there.
class CheckpointLock {
 public:
  // Creates the folder. Waits for a process that is about to end. Throws Error(kConfig) naming who holds the
  // lock, Error(kIo) for a folder that cannot be written.
  explicit CheckpointLock(const std::filesystem::path& dir, double patience_s = 2);

 private:
  FileDescriptor file_;
};

// Parts that the keeper works with. They outlive it.
struct KeeperParts {
  plugin::Trainer& trainer;
  Loader& loader;
  plugin::RankGroup* group;  // both null for a single rank
  plugin::Store* store;
  TaggedSink& sink;
  std::function<void(std::int64_t step)> while_saving{};  // injects a fault on purpose
};

// The checkpoints of one rank while it trains: which one training continues from, when one is due, what they
// cost. Does nothing where checkpoint.dir is empty. Repetitions after the first have folders of their own.
// Ranks wait for one that writes or reads for up to checkpoint.timeout_s, which is longer than a collective
// waits; the phases "checkpoint" and "checkpoint_wait" tell an observer so.
class CheckpointKeeper {
 public:
  CheckpointKeeper(const pass::PassSpec& spec, const KeeperParts& parts);

  // Restores the newest good checkpoint where that was asked for, and returns how many steps are done. A
  // collective. Throws Error(kConfig) when the folder holds another run's checkpoints, another run writes
  // into it, or none in it can be continued.
  std::int64_t open();
  // To be called after `step` steps, in the same way on every rank; writes a checkpoint when one is due and
  // none of this step exists. Throws Error(kInternal) with step and rank where numbers are not finite,
  // without writing one, and what CheckpointWriter::save and PatientBarrier::wait throw.
  void save_when_due(std::int64_t step);
  void save(std::int64_t step);
  // Keeps the weights of the best evaluation in a file that other programs load. `seen` is that of rank 0,
  // null on the others. A collective.
  void keep_best(const result::HeldOutFigures* seen, std::int64_t step);
  // Writes the last checkpoint and weights, and waits until it is complete.
  void close(std::int64_t step);

  [[nodiscard]] bool enabled() const { return !spec_.dir.empty(); }
  [[nodiscard]] const std::string& folder() const { return spec_.dir; }
  // Remark for readers of the figures; may be empty.
  [[nodiscard]] const std::string& remark() const { return remark_; }
  // Files of weights, in words; empty where none were written, and on other ranks than 0.
  [[nodiscard]] std::string weights_words() const { return weights_ ? weights_->words() : std::string(); }
  // Times of this rank, bytes of all ranks. A collective.
  [[nodiscard]] result::CheckpointFigures figures() const;

 private:
  [[nodiscard]] bool leads() const { return rank_ == 0; }
  std::int64_t resume();
  void write(std::int64_t step);
  [[nodiscard]] std::int64_t choose_step();
  void report_resumed(const Checkpoint& checkpoint);
  void refuse_another_run() const;

  pass::CheckpointSpec spec_;
  pass::ScheduleSpec schedule_;
  CheckpointOwner owner_;
  int rank_;
  KeeperParts parts_;
  cluster::PatientBarrier all_;
  std::optional<CheckpointLock> lock_;  // held by rank 0
  std::optional<CheckpointWriter> writer_;
  std::optional<KeptWeights> weights_;  // of rank 0, where the trainer writes such files
  std::vector<CheckpointCost> written_;
  std::int64_t saved_step_ = -1;
  std::string remark_;
  result::CheckpointFigures figures_;  // of reading
};

}  // namespace paceline::workload
