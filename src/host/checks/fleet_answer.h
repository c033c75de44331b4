// SPDX-License-Identifier: MIT
// Reads what `validate --json` printed on another host.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/checks/checks.h"
#include "host/checks/machine.h"

namespace paceline::host {

struct FleetAnswer {
  std::optional<Machine> machine{};  // missing: its version of Paceline knows none
  std::vector<CheckedRow> checks{};  // those that are no PASS
};

// Skips what a login shell prints before the answer. Nothing: the text has no answer. Throws std::exception
// for an answer of another shape.
std::optional<FleetAnswer> fleet_answer(std::string_view text, const std::string& host);

}  // namespace paceline::host
