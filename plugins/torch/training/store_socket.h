// SPDX-License-Identifier: MIT
#pragma once
#include <netdb.h>

#include <string>

#include "base/handle.h"

namespace paceline::torch_plugin {

// Where a store is served.
struct StoreSocket {
  FileDescriptor listening;  // empty: nothing is bound yet, and the library takes all addresses
  std::string address;       // in numbers, of `listening`; else the host as it was given
};

// Listens on the one address of this machine that `host` stands for, and on no other. Where that cannot be
// said, because the name stands for several, for one that is translated on the way here, or for a loopback
// address that other hosts know under another, nothing is bound. Error(kConfig) when the port is in use.
StoreSocket listen_for_store(const std::string& host, int port);

// An address as people write it.
std::string in_numbers(const addrinfo& at);

// The port that a socket is bound to.
int port_of(int socket);

// Error(kConfig)'s words for a port that somebody else has.
std::string port_in_use(int port);

}  // namespace paceline::torch_plugin
