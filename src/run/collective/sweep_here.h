// SPDX-License-Identifier: MIT
// Forecast for a sweep: whether its sizes fit into memory, and which it cannot have.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/maybe.h"
#include "config/plan.h"

namespace paceline::run {

// Where the ranks of a case are, and what memory they find there.
struct SweepPlace {
  std::string device = "cpu";                        // cpu | cuda
  std::int64_t ranks = 1;                            // on this host
  Count host_bytes = Count::missing("not known");    // that they may still take together
  Count device_bytes = Count::missing("not known");  // of a rank's device
};

// Memory of the largest size, in bytes; libraries take more.
struct SweepNeed {
  std::int64_t bytes = 0;              // that size, as it is measured
  double host_each = 0, host_all = 0;  // per rank, and of all ranks on this host
  double device_each = 0;
};

struct SweepOutlook {
  SweepPlace place;
  SweepNeed need;
  std::int64_t largest_that_fits = 0;  // as the plan has it; 0: none
  std::string refusal;                 // why it cannot be measured as asked, and what to write; empty: it can
};

// Pure.
SweepOutlook judge_sweep(const config::Case& c, const SweepPlace& place);

// On this machine, as it is now. `hosts`: of the launch; ranks are spread over them evenly.
SweepOutlook judge_sweep_here(const config::Case& c, const std::string& device, int hosts);

// "at least 268 MB in each of 2 ranks at 64 MiB, 537 MB of the 14.2 GB available here"
std::string memory_words(const SweepOutlook& outlook);

// Gives the figures.
nlohmann::json memory_json(const SweepOutlook& outlook);

// Which sizes are measured as others, in words.
std::vector<std::string> size_remarks(const config::Case& c);

}  // namespace paceline::run
