// SPDX-License-Identifier: MIT
// Serves the newest snapshot over HTTP, on its own thread; slow clients do not delay sampling.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "monitor/snapshot.h"

namespace paceline::monitor {

struct Address {
  std::string host;  // a name or a number, without brackets
  std::uint16_t port = 0;
};
// "127.0.0.1:9400", "[::1]:9400", ":9400" and "9400" (both loopback). Throws Error(kUsage).
Address address_of(const std::string& text);

struct ServerSettings {
  Address address;
  std::string token;  // empty: no token, for a loopback address only
};

class Server {
 public:
  // Listens. Throws Error(kUsage) for an address that others reach without a token, or that is taken.
  explicit Server(const ServerSettings& settings);
  ~Server();  // ends all connections
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  void show(std::shared_ptr<const Snapshot> now);
  [[nodiscard]] std::string url() const;  // "http://127.0.0.1:9400/", with the port that was chosen for 0

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace paceline::monitor
