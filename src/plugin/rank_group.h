// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/tensor.h"

// How processes that work together find each other and talk. Implemented by plug-ins, because the wire
// protocol of the store is that of the launchers' own (torchrun serves one), and the group is the trainer's.
namespace paceline::plugin {

// Where the store is.
struct Rendezvous {
  std::string address = "127.0.0.1";  // host name or IP address of who serves it
  int port = 0;
  bool serve = false;     // this process serves it; false: connects as a client
  int listen_fd = -1;     // with serve: a socket that listens on the port already; -1: bind it
  std::string prefix;     // in front of every key: keeps passes and restarts apart
  double timeout_s = 60;  // for connecting, and of every wait that names none
};

// Values under keys, shared by all ranks. Throws Error(kUnavailable) when nobody answers within the timeout,
// and on opening Error(kConfig) when the address is unknown or cannot be served (the port is in use), each
// with the address.
class PACELINE_EXPORT Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  // Does not wait: nullopt when nobody has set it.
  [[nodiscard]] virtual std::optional<std::string> get(const std::string& key) = 0;
  // Sets `key` if nobody has. The value that stands there afterwards.
  virtual std::string set_if_absent(const std::string& key, const std::string& value) = 0;
  [[nodiscard]] virtual int port() const = 0;  // of the server, as bound
};

struct GroupSpec {
  int rank = 0;
  int world = 1;
  std::string local_address;   // of the network interface to use; empty: 127.0.0.1
  double timeout_s = 60;       // of every collective: a peer that hangs is noticed after it
  Device device;               // of the tensors; gloo: cpu or cuda:i, nccl: cuda:i
  bool deterministic = false;  // reductions in the same order every time, where the backend has a choice
};

// A process group. Every call is collective: all ranks make the same calls in the same order. A peer that is
// gone, or does not answer within the timeout, is Error(kUnavailable); the group is unusable afterwards.
class PACELINE_EXPORT RankGroup {
 public:
  virtual ~RankGroup() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int world() const = 0;
  virtual void barrier() = 0;
  // `root`'s bytes to everybody; the same size everywhere.
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  // Elementwise maximum over the ranks; the same size everywhere.
  virtual void reduce_max(std::span<double> values) = 0;
  // Rank 0 gets what each rank gave, in the order of ranks; the others get nothing. Sizes may differ.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& mine) = 0;
};

}  // namespace paceline::plugin
