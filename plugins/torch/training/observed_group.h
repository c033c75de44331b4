// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "plugin/trainer.h"
#include "torch/training/torch_group.h"

namespace paceline::torch_plugin {

// The Reducer's process group: it forwards to the group's own backend, so that nothing differs from plain
// DDP, and reports every bucket to a recorder; on a device over gloo only the bucket's beginning.
class ObservedGroup : public c10d::ProcessGroup {
 public:
  // `delay_s`: added to every bucket's exchange, on purpose; Error(kUnsupported) but on the CPU.
  explicit ObservedGroup(const TorchGroup& group, double delay_s = 0);
  ~ObservedGroup() override;
  // The name is c10d's and cannot follow ours.
  c10::intrusive_ptr<c10d::Work> allreduce(
      std::vector<at::Tensor>& tensors,
      const c10d::AllreduceOptions& options = c10d::AllreduceOptions()) override;

  // Reports buckets from now on; after the last of `buckets`, only communication is left.
  void watch(plugin::StepRecorder& recorder, std::size_t buckets);
  // Waits until the end of every launched bucket was reported.
  void settle();
  // Reports nothing more, whatever is still in flight.
  void unwatch();

 private:
  struct Watch;
  double delay_s_;
  std::shared_ptr<Watch> watch_;  // shared with callbacks that may come late
};

}  // namespace paceline::torch_plugin
