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

// Throws Error(kConfig) with what was `written` ("--interface eth9") and the interfaces that there are, when
// none has that name or address.
void check_interface(const std::string& name, const std::string& written);

// One of the addresses of `host` belongs to an interface of this one.
bool is_this_host(const std::string& host);

// "lo (127.0.0.1), eth0 (10.0.0.2)"
std::string own_interfaces();

}  // namespace paceline::cluster
