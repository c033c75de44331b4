// SPDX-License-Identifier: MIT
// The two most frequent groups of times, and what tells them apart.
#pragma once
#include <string>
#include <vector>

namespace paceline::result {

// A quantity whose readings in one state differ from those in the other.
struct StateSign {
  std::string what;           // "SM clock"
  std::string unit;           // MHz; "1" for a share
  double fast = 0, slow = 0;  // median of its readings in each state
};

struct TwoStates {
  double fast_ns = 0, slow_ns = 0;   // medians of the groups
  double slow_share = 0;             // of all samples of both
  bool by_process = false;           // each process stayed in one of them
  std::vector<StateSign> signs{};    // the clearest first
  std::vector<std::string> alike{};  // quantities that were read in both states and do not tell them apart
  std::string unread{};              // why nothing could be compared; empty: something was
};

}  // namespace paceline::result
