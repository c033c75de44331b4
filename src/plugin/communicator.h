// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/collective.h"
#include "base/error.h"
#include "base/tensor.h"

// The interface of collective operations that are measured by themselves. Installed with the plug-in headers.
namespace paceline::plugin {

// One operation of one rank. Counts are elements of `dtype`.
struct CollectiveCall {
  Collective operation = Collective::kAllReduce;
  DType dtype = DType::kFloat32;
  Reduction reduction = Reduction::kSum;
  int root = 0;
  std::int64_t send_count = 0;     // elements that this rank sends; 0 for a barrier
  std::int64_t receive_count = 0;  // elements that it receives; of a reduce only the root's are defined
  // Input and output share memory: the smaller one is in the larger one, at this rank's place.
  bool in_place = false;
  // Ranks other than the neighbours, for send_recv. A rank that sends to itself pauses while others exchange.
  int send_to = -1, receive_from = -1;
};

// Runs collective operations. All ranks make the same calls in the same order. A lost peer causes
// Error(kUnavailable), and the group cannot be used afterwards.
class PACELINE_EXPORT Communicator {
 public:
  virtual ~Communicator() = default;
  // Allocates the buffers of `call` and frees earlier ones. If the backend lacks the operation, this or the
  // first start() throws Error(kUnsupported) on every rank.
  virtual void prepare(const CollectiveCall& call) = 0;
  // write fills the send buffer from host memory, read copies the receive buffer to it; both wait for the
  // copy.
  virtual void write(std::span<const std::byte> data) = 0;
  virtual void read(std::span<std::byte> data) = 0;
  // Starts the operation once, after all earlier ones; need not wait for it.
  virtual void start() = 0;
  // Waits until everything that was started is complete on this rank.
  virtual void finish() = 0;
  // Whether start() waits for the operation, so that its calls can be timed one by one.
  [[nodiscard]] virtual bool start_completes() const = 0;
};

}  // namespace paceline::plugin
