// SPDX-License-Identifier: MIT
#include "cluster/launch_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/units.h"

namespace paceline::cluster {
namespace {

struct WordsRow {
  std::string_view launcher, has_started, starts;  // {} is the number of ranks
};
// The last row is that of every other launcher, whose name goes in front of its words.
constexpr std::array<WordsRow, 7> kWords{{
    {"mpirun", "mpirun has started", "mpirun -np {}"},
    {"mpich", "mpiexec has started", "mpiexec -n {}"},
    {"srun", "srun has started", "srun -n {}"},
    {"kubernetes", "the job has", "a job of {} ranks"},
    {"environment", "RANK and WORLD_SIZE name", "WORLD_SIZE={}"},
    {"by hand", "--nnodes and --nproc-per-node start", "--nnodes and --nproc-per-node for {}"},
    {"", " has started", " with {} processes in all"},
}};

const WordsRow& row_of(const LaunchPlace& place) {
  return *std::find_if(kWords.begin(), kWords.end() - 1,
                       [&](const WordsRow& row) { return row.launcher == place.launcher; });
}

std::string named(const WordsRow& row, const LaunchPlace& place) {
  return row.launcher.empty() ? place.launcher : std::string();
}

}  // namespace

std::string started_words(const LaunchPlace& place) {
  const auto& row = row_of(place);
  return fmt::format("{}{} {}", named(row, place), row.has_started, plural(place.world, "rank"));
}

std::string start_words(const LaunchPlace& place, int ranks) {
  const auto& row = row_of(place);
  return named(row, place) + fmt::format(fmt::runtime(row.starts), ranks);
}

}  // namespace paceline::cluster
