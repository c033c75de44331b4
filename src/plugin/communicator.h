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
  std::int64_t send_count = 0;     // that this rank gives; a barrier has neither
  std::int64_t receive_count = 0;  // that this rank gets; of a reduce only the root's are defined
  // Input and output share memory: the smaller one lies in the larger one at this rank's place.
  bool in_place = false;
  // Of send_recv: other ranks than the neighbours. A rank that sends to itself pauses while others exchange.
  int send_to = -1, receive_from = -1;
};

// All ranks make the same calls in the same order. A peer that is gone causes Error(kUnavailable), and the
// group is unusable afterwards.
class PACELINE_EXPORT Communicator {
 public:
  virtual ~Communicator() = default;
  // Makes the buffers of `call`; those of the call before are gone. Throws Error(kUnsupported) on every rank
  // for what the backend lacks, here or in the first start().
  virtual void prepare(const CollectiveCall& call) = 0;
  // Copies from host memory to what is sent, and to host memory what was received; both complete on return.
  virtual void write(std::span<const std::byte> data) = 0;
  virtual void read(std::span<std::byte> data) = 0;
  // Runs the operation once, after all that were started before it.
  virtual void start() = 0;
  // Returns when everything that was started is complete on this rank.
  virtual void finish() = 0;
  // start() itself returns when the operation is complete, so that its calls may be timed one by one.
  [[nodiscard]] virtual bool start_completes() const = 0;
};

}  // namespace paceline::plugin
