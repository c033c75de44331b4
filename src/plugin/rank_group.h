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

// The interfaces of a store and of a group of ranks: how processes that work together find each other and
// talk. Plug-ins implement them, because the wire protocol of the store is that of the launchers (torchrun
// serves one), and the group belongs to the trainer.
namespace paceline::plugin {

// Where the store is.
struct Rendezvous {
  std::string address = "127.0.0.1";  // host name or IP address of the process that serves it
  int port = 0;
  bool serve = false;     // this process serves it; false: connects as a client
  int listen_fd = -1;     // with serve: a socket that listens on the port already; -1: bind it
  std::string prefix;     // in front of every key, to separate passes and restarts
  double timeout_s = 60;  // for connecting, and for waits without a timeout of their own
};

// Values by key, shared by all ranks. Throws Error(kUnavailable) when there is no answer within the timeout,
// and when opened Error(kConfig) for an address that is unknown or cannot be served (the port is in use),
// each with the address.
class PACELINE_EXPORT Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  // The value now, without waiting; nullopt if the key is not set.
  [[nodiscard]] virtual std::optional<std::string> get(const std::string& key) = 0;
  // Waits up to `timeout_s` seconds until the key is set, with a single request; nullopt if it is not.
  [[nodiscard]] virtual std::optional<std::string> wait_for(const std::string& key, double timeout_s) = 0;
  // Sets `key` if it is not set, and returns its value in either case.
  virtual std::string set_if_absent(const std::string& key, const std::string& value) = 0;
  [[nodiscard]] virtual int port() const = 0;  // of the server, as bound
};

struct GroupSpec {
  int rank = 0;
  int world = 1;
  std::string local_address;   // of the network interface to use; empty: 127.0.0.1
  double timeout_s = 60;       // of every collective: a hanging peer is noticed after it
  Device device;               // of the tensors; gloo: cpu or cuda:i, nccl: cuda:i
  bool deterministic = false;  // the same order of reductions every time, where the backend has a choice
};

// A process group. Every call is collective: all ranks make the same calls in the same order. A peer that is
// gone or does not answer within the timeout causes Error(kUnavailable); the group is unusable afterwards.
class PACELINE_EXPORT RankGroup {
 public:
  virtual ~RankGroup() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int world() const = 0;
  virtual void barrier() = 0;
  // Sends `root`'s bytes to all ranks; the size is the same on all.
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  // Elementwise maximum over the ranks; the size is the same on all.
  virtual void reduce_max(std::span<double> values) = 0;
  // Rank 0 gets the texts of all ranks in rank order, the others get nothing. Sizes may differ.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& mine) = 0;
};

}  // namespace paceline::plugin
