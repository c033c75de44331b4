// SPDX-License-Identifier: MIT
// Readings of a watched machine over time.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace paceline::report {

// Readings of one thing; `chart` names the chart that it shares with others of its unit.
struct MachineCurve {
  std::string chart, name, unit;
  std::vector<double> values{};  // one for each moment of the course; NaN: not read
};

// A timed pass of a run on the machine, by the readings in which it was seen.
struct MachinePass {
  double from_s = 0, to_s = 0;
  std::string label;
};

struct MachineCourse {
  std::string host, begun_utc;
  std::vector<double>
      times_s{};  // from the first reading; between two recordings stands a moment without one
  std::size_t readings = 0;
  std::vector<MachineCurve> curves{};
  std::vector<MachinePass> passes{};
  std::vector<std::string> absent{};    // what could not be read, and why
  std::vector<std::string> warnings{};  // about the recording
  [[nodiscard]] bool empty() const { return times_s.empty(); }
};

}  // namespace paceline::report
