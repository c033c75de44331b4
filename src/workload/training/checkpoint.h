// SPDX-License-Identifier: MIT
// A checkpoint: whose it is, the state of training, and its files.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pass/train_spec.h"
#include "workload/training/data/loader.h"

namespace paceline::workload {

// Which training may continue a checkpoint.
struct CheckpointOwner {
  std::string model;
  std::string plan_hash;
  std::int64_t world = 1;
};

// State of training that the trainer does not save itself.
struct TrainingState {
  std::int64_t step = 0;  // optimizer steps done
  DataPosition data;
  pass::ScheduleSpec schedule;
};

struct CheckpointPart {
  std::string file;  // in the checkpoint's folder
  std::int64_t bytes = 0;
  std::string sha256;
};

struct Checkpoint {
  std::filesystem::path folder;  // not stored
  CheckpointOwner owner;
  TrainingState state;
  std::vector<CheckpointPart> parts;  // in rank order
};

}  // namespace paceline::workload
