// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Which step files of a folder are of one start of one job.
namespace paceline::attach {

// Says where a file belongs.
struct FilePlace {
  std::int64_t rank = 0, world = 1;
  std::int64_t started_ns = 0;  // since 1970
  std::uint64_t steps = 0;      // of its optimizers
  bool rank_known = false;      // a launcher or torch.distributed said the rank
};

// Indices into the places.
struct JobFiles {
  std::vector<std::size_t> job;     // by rank: one each, of one start
  std::vector<std::size_t> others;  // starts before or behind it
  std::vector<std::size_t> apart;   // processes whose rank nobody said
};

// The job is the newest start of which every rank has two steps: one that ended sooner says nothing. If there
// is none, it is the newest of each rank. Ranks of another number of ranks are others, as those that an
// elastic job lost; files without steps decide no number of ranks. Without a known rank, the process with
// most steps is the job.
JobFiles job_files(std::span<const FilePlace> places);

}  // namespace paceline::attach
