// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace paceline::cluster {

// The address at which other ranks reach this one: of the interface that `interface_name`
// (GLOO_SOCKET_IFNAME) names, by name or address, where that is set, else the one from which this host
// reaches `store_address`. Throws Error(kConfig): no such interface, a name that does not resolve, or
// loopback although not all ranks are on this host.
std::string local_address(const std::string& store_address, int store_port, const std::string& interface_name,
                          bool one_host);

// Throws Error(kTimeout) naming the host when its name does not resolve within `timeout_s`; asks
// again until then.
void check_resolves(const std::string& host, double timeout_s);

}  // namespace paceline::cluster
