// SPDX-License-Identifier: MIT
// Task of a pass that trains: data, schedule, checkpoints, faults.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "plugin/trainer.h"

// Part of PassSpec for one rank that trains. Model, batch, rank, world size, loop and pinning are in
// PassSpec.
namespace paceline::pass {

struct DataSpec {
  std::string source = "synthetic";  // synthetic | cifar10 | cifar100 | image_folder | token_file | npz
  std::string path;                  // file or folder
  std::int64_t workers = 2;          // threads per rank that make batches; 0: the step makes them
  std::int64_t prefetch = 2;         // batches per worker, made in advance
  std::int64_t synthetic_samples = 50'000;  // length of an epoch
  bool synthetic_fresh = false;             // a new batch per step, made by workers; false: always the same
  bool augment = true;                      // random crop and flip, image sources
  bool shuffle = true;
  bool held_out = false;  // the part that is not trained on, where the source has one
  std::uint64_t seed = 42;
};

struct ScheduleSpec {
  std::string name = "constant";  // constant | cosine | step
  double base = 0.1;              // learning rate
  std::int64_t warmup_steps = 0;  // linear from 0
  std::int64_t total_steps = 0;   // of cosine: where it reaches `last`
  double last = 0;                // cosine: as a share of base
  std::int64_t step_every = 0;    // step: steps between reductions
  double gamma = 0.1;             // step: factor of a reduction
  std::int64_t epochs = 0;        // give total_steps or step_every where those are 0
  friend bool operator==(const ScheduleSpec&, const ScheduleSpec&) = default;
};

struct CheckpointSpec {
  std::string dir;               // empty: none
  std::int64_t every_steps = 0;  // 0: only at the end
  std::int64_t keep = 2;
  bool asynchronous = false;
  bool resume = false;     // from the newest good one
  double timeout_s = 600;  // longest wait of the other ranks for one that writes or reads
};

// Window of a pass under the profiler.
struct ProfileSpec {
  std::int64_t untimed_steps = 3;  // buckets are rebuilt after the first, memory is touched
  std::int64_t steps = 3;
  std::string trace_file;  // of rank 0
};

struct TrainSpec {
  static constexpr const char* kField = "train";
  plugin::TrainSettings settings;
  DataSpec data;
  ScheduleSpec schedule;
  CheckpointSpec checkpoint;
  std::int64_t epochs = 0;             // number of epochs; 0: as long as is measured
  std::int64_t eval_every_epochs = 1;  // on held-out data, where there are any; 0: never
  std::int64_t drift_check_every =
      0;               // steps between comparisons of the ranks' parameters; 0: at the end only
  std::string inject;  // a fault on purpose: kill:rank=1,step=50; empty: none
  ProfileSpec profile;
};

}  // namespace paceline::pass
