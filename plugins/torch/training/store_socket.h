// SPDX-License-Identifier: MIT
// Listens for the store on the one address that its host name resolves to.
#pragma once
#include <netdb.h>

#include <string>

#include "base/handle.h"

namespace paceline::torch_plugin {

// Where a store is served.
struct StoreSocket {
  FileDescriptor listening;  // empty: nothing is bound, and the library listens on all addresses
  std::string address;       // numeric address of `listening`; else the host as given
};

// Listens on the one address of this machine that `host` resolves to, and on no other. Nothing is bound where
// the address is not certain: the name has several addresses, for one that is translated on the way
// here, or for a loopback address that other hosts know differently. Error(kConfig) when the port is in use.
StoreSocket listen_for_store(const std::string& host, int port);

// The numeric form of an address.
std::string in_numbers(const addrinfo& at);

// The port that a socket is bound to.
int port_of(int socket);

// Error(kConfig)'s message for a port that is in use.
std::string port_in_use(int port);

}  // namespace paceline::torch_plugin
