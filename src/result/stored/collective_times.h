// SPDX-License-Identifier: MIT
// Measurements of a collective by its ranks: raw data, stored as collective_times.csv.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace paceline::result {

// Where a rank ran.
struct CollectiveRank {
  std::int64_t rank = 0;
  std::string host;
  std::int64_t process_id = 0;
  std::string cpus;
};

// All operations of one size, in place or not. The outer index of times is the rank.
struct CollectiveTimes {
  std::int64_t bytes = 0;  // the larger of what a rank sends and receives
  std::int64_t count = 0;  // elements of one block
  bool in_place = false;
  bool checked = false;
  std::int64_t wrong = 0;  // elements that were not as they must be, on all ranks
  std::int64_t batch = 0;  // operations that batch_ns timed at once
  std::vector<std::int64_t> batch_ns{};
  std::vector<std::vector<std::int64_t>> sync_ns{};    // one by one, after a barrier each
  std::vector<std::int64_t> sync_start_ns{};           // of those, on rank 0's monotonic clock
  std::vector<std::vector<std::int64_t>> stream_ns{};  // those of the batch, where each can be timed
  bool converged = true;  // the interval of the median became narrow enough, or their number was fixed
};

// Operations of ranks that exchanged messages in a round, the slowest rank of each.
struct RoundTimes {
  std::int64_t attempt = 0;
  std::int64_t round = 0;
  std::vector<std::int64_t> members{};
  std::vector<std::int64_t> ns{};
  std::int64_t wrong = 0;  // elements, on the rank with most of them
};
using RoundsOfRepetitions = std::map<std::int64_t, std::vector<RoundTimes>>;

using TimesOfRepetitions = std::map<std::int64_t, std::vector<CollectiveTimes>>;

// One row per rank and operation, below the names of the columns.
std::string collective_times_csv(const TimesOfRepetitions& times);
std::string rounds_csv(const RoundsOfRepetitions& rounds);

}  // namespace paceline::result
