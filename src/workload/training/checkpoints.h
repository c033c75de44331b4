// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plugin/trainer.h"
#include "workload/training/checkpoint.h"

// Reads, verifies and finds checkpoints as files. Each is a folder step_<n> with one file per rank
// (rank0.ckpt also holds what all ranks share) and meta.json, which is written last: without it there is no
// checkpoint.
namespace paceline::workload {

inline constexpr std::string_view kCheckpointSchema = "1.0";

std::filesystem::path checkpoint_folder(const std::filesystem::path& dir, std::int64_t step);
std::string part_name(std::int64_t rank);

// Steps of the folders that look like checkpoints, newest first; empty where `dir` does not exist.
std::vector<std::int64_t> list_checkpoints(const std::filesystem::path& dir);

// Reads meta.json alone. Throws Error(kIo, kData) with what is wrong.
Checkpoint read_checkpoint(const std::filesystem::path& dir, std::int64_t step);

// Checks sizes and digests of all parts. Throws Error(kData) naming the first that differs.
void verify_parts(const Checkpoint& checkpoint);

struct CheckpointSearch {
  std::optional<Checkpoint> found;
  std::vector<std::string> refused;  // newer ones: folder and reason
};

// The newest checkpoint that is complete and the owner's. One of another number of ranks is refused unless
// `any_world`, and so is one for which `take` throws an Error. Called on rank 0; the other ranks learn the
// step from it and call read_checkpoint.
CheckpointSearch newest_good(const std::filesystem::path& dir, const CheckpointOwner& owner, bool any_world,
                             const std::function<void(const Checkpoint&)>& take = {});

struct RestoreCost {
  std::int64_t bytes = 0;  // of the files that were read
  double read_ns = 0;
};

// A rank that the checkpoint does not have (there were fewer ranks) takes the file of rank modulo their
// number. Throws what Trainer::restore throws.
RestoreCost restore(plugin::Trainer& trainer, const Checkpoint& checkpoint, int rank);

// The text of meta.json.
std::string checkpoint_meta(const Checkpoint& checkpoint);

}  // namespace paceline::workload
