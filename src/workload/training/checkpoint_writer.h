// SPDX-License-Identifier: MIT
// Writes one rank's part of checkpoints, at once or in the background.
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "plugin/trainer.h"
#include "workload/training/checkpoints.h"

namespace paceline::workload {

// Cost of one checkpoint for one rank. Bytes and times are of this rank's own file.
struct CheckpointCost {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  double stalled_ns = 0;  // how long training stood still
  double write_ns = 0;    // Trainer::save and the flush to the disk
  double digest_ns = 0;   // reading the file again for its SHA-256
  double total_ns = 0;    // until it was complete; on rank 0 with the other ranks' parts and meta.json
};

// Writes the checkpoints of one rank. All ranks call save at the same steps; their folder is on a file system
// that all of them see. Each writes its part under a temporary name, flushes, renames and leaves a note of
// its size and digest; rank 0 waits for the notes of all, writes meta.json and removes checkpoints of the
// same owner beyond the newest `keep`. No other checkpoint is touched, whatever fails.
//
// Asynchronous: save returns when the trainer has written its file into the system's memory; flush, digest
// and the rest follow on a thread of its own, one checkpoint at a time.
class CheckpointWriter {
 public:
  // Rank 0 creates the folder and removes what an earlier process left unfinished, so a barrier must stand
  // between its constructor and the first save of any rank. Throws Error(kIo).
  CheckpointWriter(const pass::CheckpointSpec& spec, CheckpointOwner owner, int rank, double peers_timeout_s);
  ~CheckpointWriter();  // gives up the one in flight and loses its error; call finish before

  // Returns the checkpoint that was completed: this one, or, when asynchronous, the previous one, if any.
  // Throws Error(kIo) when the disk is full and the like, Error(kTimeout) when rank 0 waited in vain for the
  // part of a rank, which it names; asynchronous saves throw the error of the previous one. `own_part_done`
  // is called when this rank's part is written and keeps no other rank waiting.
  std::optional<CheckpointCost> save(plugin::Trainer& trainer, const TrainingState& state,
                                     const std::function<void()>& own_part_done = {});

  // Waits for the one in flight. Throws its error.
  std::optional<CheckpointCost> finish();

 private:
  void take_copy(plugin::Trainer& trainer, std::int64_t step, CheckpointCost& cost) const;
  CheckpointCost complete(const TrainingState& state, CheckpointCost cost, std::int64_t begin_ns,
                          const std::function<void()>& own_part_done) const;
  [[nodiscard]] CheckpointPart flush_part(std::int64_t step, CheckpointCost& cost) const;
  void commit(const TrainingState& state) const;
  [[nodiscard]] CheckpointPart wait_for_note(std::int64_t step, std::int64_t rank) const;
  void discard_part(std::int64_t step) const;
  void keep_newest(std::int64_t newest) const;

  pass::CheckpointSpec spec_;
  std::filesystem::path dir_;
  CheckpointOwner owner_;
  int rank_;
  double peers_timeout_s_;
  std::atomic<bool> abandoned_{false};  // training has failed, nothing waits for it any more
  std::future<CheckpointCost> in_flight_;
};

}  // namespace paceline::workload
