// SPDX-License-Identifier: MIT
// Makes an answer of the hosts of a fleet: who differs from whom.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "answer/answer.h"
#include "host/checks/checks.h"
#include "host/checks/machine.h"

namespace paceline::host {

struct HostReply {
  std::string host;                // as the user wrote it
  std::optional<Machine> machine;  // empty: there is no answer
  std::vector<CheckedRow> checks;  // those that are no PASS
  std::string reason;              // why there is no answer, as a sentence without the host
};

// A check per mistake, whatever it was found by: other hosts, `expected` (whose file is `origin`), or the
// host itself. Exit code 5 where a host gave no answer, 4 where one fails.
answer::Answer fleet_report(const std::vector<HostReply>& replies, const std::optional<Machine>& expected,
                            const std::string& origin);

// The machines of those that answered.
std::vector<Machine> machines_of(const std::vector<HostReply>& replies);

}  // namespace paceline::host
