// SPDX-License-Identifier: MIT
// A run as one side of a comparison, with the figures of single processes that its results do not contain.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "compare/comparison.h"
#include "result/collective_medians.h"
#include "result/run_directory.h"

namespace paceline::compare {

// Run of one further process of a side, where each process stores a run for itself.
struct ProcessRun {
  std::int64_t index = 0;  // of its repetition among those of the side
  result::StoredRun stored;
};

struct SideRun {
  Side side;
  result::StoredRun stored;  // with the repetitions of all processes
  std::vector<ProcessRun> further{};
};

// Values by the index of a repetition.
using PerProcess = std::map<std::int64_t, double>;

// Figures that only the files beside a result tell. Empty where they are missing or changed.
struct ProcessFigures {
  PerProcess p99_ns;              // where the process's sample carries it
  result::MediansBySize size_ns;  // of a collective
};
// A case as one side has it.
struct CaseSide {
  const result::CaseResult* one = nullptr;
  ProcessFigures extra{};
};

ProcessFigures process_figures(const SideRun& side, const result::CaseResult& one);

}  // namespace paceline::compare
