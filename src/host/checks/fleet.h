// SPDX-License-Identifier: MIT
// Compares the hosts of a fleet with each other: what they share, what differs, and who is the outlier. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "host/checks/checks.h"
#include "host/checks/machine.h"

namespace paceline::host {

struct FleetDifference {
  std::string name;                   // of the fact, or of the load figure
  std::vector<std::string> values;    // as shown, in the order of the machines
  std::string usual;                  // what more than half of them have; empty: no majority
  std::vector<std::size_t> outliers;  // the machines without it; none without a majority
  std::vector<Verdict> verdicts;      // of each outlier
  Verdict status = Verdict::kReservedly;
  std::string fix;
};

struct FleetView {
  std::vector<std::pair<std::string, std::string>> alike;  // names and values that all share
  std::vector<FleetDifference> differences;                // FAIL before WARN
};

// With fewer than two machines nothing differs.
FleetView compare_fleet(const std::vector<Machine>& machines);

// Machine to compare others with: it has what more than half of them have. Facts and load figures without a
// majority are left out; a load figure is that of the machine in the middle.
Machine usual_machine(const std::vector<Machine>& machines);

}  // namespace paceline::host
