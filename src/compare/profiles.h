// SPDX-License-Identifier: MIT
// Compares traces of PyTorch jobs, or files of NVIDIA's profilers, by their steps and by what took the time.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "analysis/difference/timed_parts.h"
#include "analysis/traces/rank_trace.h"
#include "compare/comparison.h"
#include "nsight/ncu_csv.h"
#include "nsight/nsys_file.h"

namespace paceline::compare {

// Time of one part of a job. `each_ms`: of every step, or of every call; below six on a side nothing is
// claimed.
struct ProfilePart {
  std::string name;   // step_ms, operator.aten::conv2d, kernel.NAME
  std::string title;  // "step", "aten::conv2d"
  bool decides = false;
  std::vector<double> each_ms{};
  Number whole_ms{};  // of a step, or of all calls together
  Number calls{};     // likewise
};

// Parts that may explain a difference, in words that say which: "kernels".
struct ProfileParts {
  std::string of;
  analysis::difference::TimedParts parts;
};

struct Profile {
  Side side;
  std::string subject;  // "traces", "files of Nsight Compute"
  std::string unit;     // of `each_ms`: "step", "launch"
  std::vector<ProfilePart> parts{};
  std::vector<ProfileParts> explaining{};  // in the same order on all sides; the first are those of `why`
  std::vector<std::string> remarks{};
};

// Step time of the slowest rank, the parts of a step as means over the ranks, and operators of all ranks.
Profile profile_of(Side side, const std::vector<analysis::traces::RankTrace>& ranks);
Profile profile_of(Side side, const nsight::NcuFile& file);
Profile profile_of(Side side, const nsight::NsysFile& file);

// Each with the first. Nothing pairs steps of two jobs, so that a change is suspected at most. Parts that
// explain nothing are left out: the largest differences stay.
Comparison compare_profiles(const std::vector<Profile>& sides, double threshold);

}  // namespace paceline::compare
