// SPDX-License-Identifier: MIT
// A snapshot in lines of text, for people.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "monitor/snapshot.h"

namespace paceline::monitor {

struct ViewLine {
  std::string text;
  bool strong = false;  // a heading, or something that slows this machine down
};

// At most `columns` wide. `before`: the previous snapshot; without one there are no rates.
std::vector<ViewLine> view(const Snapshot& now, const Snapshot* before, std::size_t columns);

// The machine alone, without a line for each CPU.
std::vector<std::string> machine_lines(const Snapshot& now, const Snapshot* before, std::size_t columns);

// One line for the machine and one for each run: "12:40:03  cpu 31 %  memory 3.2 of 25 GB …".
std::vector<std::string> plain_lines(const Snapshot& now, const Snapshot* before);

}  // namespace paceline::monitor
