// SPDX-License-Identifier: MIT
// Median time of a collective by size and repetition, from the times of its operations.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "result/run_directory.h"

namespace paceline::result {

// By size in bytes and whether in place, then by the index of the repetition; in ns.
using MediansBySize = std::map<std::pair<std::int64_t, bool>, std::map<std::int64_t, double>>;

// From the text of collective_times.csv: the slowest rank of each operation timed by itself. Throws
// Error(kData) naming `origin` for a row that is none.
MediansBySize medians_by_size(const std::string& csv, const std::string& origin);

// From the file of a case in a stored run; empty without one.
MediansBySize medians_by_size(const StoredRun& stored, const CaseResult& one);

}  // namespace paceline::result
