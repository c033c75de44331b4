// SPDX-License-Identifier: MIT
// Checks of what ranks on several hosts need: limits, a host name, a port, synchronised clocks,
// InfiniBand.
#pragma once
#include <sys/timex.h>

#include <functional>
#include <string>
#include <vector>

#include "host/checks/checks.h"
#include "host/system_files.h"

namespace paceline::host {

// The addresses that a name resolves to; may be empty.
std::vector<std::string> addresses_of(const std::string& name);

// MASTER_PORT where it is a port, else the one that training takes by default.
int rendezvous_port();

// Whether a store can listen on this port of all addresses.
bool can_listen(int port);

struct NetworkSeams {
  std::function<int(timex*)> clock_state = ::adjtimex;
  std::function<std::vector<std::string>(const std::string&)> addresses = addresses_of;
  std::function<bool(int)> can_listen = host::can_listen;
};

CheckResult check_limits(const SystemFiles& files);
CheckResult check_host_name(const SystemFiles& files, const NetworkSeams& seams);
CheckResult check_port(const SystemFiles& files, const NetworkSeams& seams, int port);
CheckResult check_synchronisation(const NetworkSeams& seams);
CheckResult check_infiniband(const SystemFiles& files);

}  // namespace paceline::host
