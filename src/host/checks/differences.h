// SPDX-License-Identifier: MIT
// Compares machines: one with a saved one, and the hosts of a fleet with each other.
#pragma once
#include <string>
#include <vector>

#include "host/checks/checks.h"
#include "host/checks/machine.h"

namespace paceline::host {

struct Difference {
  std::string name;             // of the fact, or of the load figure
  std::string found, expected;  // as shown
  Verdict status = Verdict::kReservedly;
  std::string fix;
};

// Compares with a saved machine, FAIL before WARN. Facts that only one version of Paceline knows are not
// compared; load figures are if both have some.
std::vector<Difference> differences(const Machine& found, const Machine& expected);

// A row for each of them, or one that says there is none. `origin` names the saved machine.
std::vector<CheckedRow> rows_of(const std::vector<Difference>& differences, const std::string& origin);
nlohmann::json differences_json(const std::vector<Difference>& differences);

}  // namespace paceline::host
