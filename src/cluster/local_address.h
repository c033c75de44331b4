// SPDX-License-Identifier: MIT
// Chooses the network interface at which other ranks reach this one.
#pragma once
#include <string>

namespace paceline::cluster {

// The address at which other ranks reach this one. It belongs to the interface that `interface_name`
// (GLOO_SOCKET_IFNAME) gives by name or address, where that is set, else to the one from which this host
// reaches `store_address`. Throws Error(kConfig) when there is no such interface, a name does not resolve, or
// it is loopback although not all ranks are on this host.
std::string local_address(const std::string& store_address, int store_port, const std::string& interface_name,
                          bool one_host);

// Throws Error(kConfig) with what was `written` ("--interface eth9") and the existing interfaces when none
// has that name or address.
void check_interface(const std::string& name, const std::string& written);

// The loopback address that all of `host` leads to, though it is the name of another host: 127.0.1.1 of a
// copied /etc/hosts. Empty where that is not so, or where `host` is an address, localhost, or this host's own
// name.
std::string misleading_loopback(const std::string& host);

// Whether one of the addresses of `host` belongs to an interface of this host.
bool is_this_host(const std::string& host);

// "lo (127.0.0.1), eth0 (10.0.0.2)"
std::string own_interfaces();

}  // namespace paceline::cluster
