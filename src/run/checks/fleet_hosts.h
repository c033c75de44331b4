// SPDX-License-Identifier: MIT
// Runs `validate --json` on other hosts, and reads what they answer.
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "host/checks/fleet_report.h"

namespace paceline::run {

// The hosts of --hosts, each once, without slots ("a:2" is a). Throws Error(kUsage) for text that is no name
// of a host.
std::vector<std::string> host_names(const std::vector<std::string>& written);

struct HostQuestion {
  std::vector<std::string> rsh;        // words in front of the host
  std::vector<std::string> arguments;  // of paceline, after `validate --json --quiet`
  double timeout_s = 120;
  std::string version{};  // of this paceline, for advice
};

// All at once, 64 at a time. In the order of the hosts.
std::vector<host::HostReply> ask_hosts(const std::vector<std::string>& hosts, const HostQuestion& question,
                                       const std::atomic<bool>& interrupt);

}  // namespace paceline::run
