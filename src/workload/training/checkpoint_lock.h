// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>

#include "base/handle.h"

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

}  // namespace paceline::workload
