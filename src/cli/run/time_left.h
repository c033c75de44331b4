// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "run/case/observer.h"

namespace paceline::cli {

// Until the run ends.
struct TimeLeft {
  double seconds = 0;
  bool at_most = false;  // a limit, not an estimate
};

// From the pace of earlier passes and what the pass reports, `since_s` after its begin. None: nothing tells.
std::optional<TimeLeft> time_left(const run::PassInfo& pass, double since_s, const pass::ProgressRecord& now);

// "40 s left", "at most 40 s left"; empty: not known.
std::string words_of(const std::optional<TimeLeft>& left);

}  // namespace paceline::cli
