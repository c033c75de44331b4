// SPDX-License-Identifier: MIT
// A run as one side of a comparison, with the figures of single processes that its results do not contain.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare/comparison.h"
#include "result/run_directory.h"

namespace paceline::compare {

struct SideRun {
  Side side;
  result::StoredRun stored;
};

// Values by the index of a repetition.
using PerProcess = std::map<std::int64_t, double>;

// Figures that only the files beside a result tell. Empty where they are missing or changed.
struct ProcessFigures {
  PerProcess p99_ns;                                            // where the process's sample carries it
  std::map<std::pair<std::int64_t, bool>, PerProcess> size_ns;  // of a collective: bytes, in place
};
// A case as one side has it.
struct CaseSide {
  const result::CaseResult* one = nullptr;
  ProcessFigures extra{};
};

ProcessFigures process_figures(const result::StoredRun& stored, const result::CaseResult& one);

// Median time of an operation in each repetition, from the text of collective_times.csv: the slowest rank of
// each operation timed by itself. Throws Error(kData) naming `origin` for a row that is none.
std::map<std::pair<std::int64_t, bool>, PerProcess> medians_by_size(const std::string& csv,
                                                                    const std::string& origin);

}  // namespace paceline::compare
