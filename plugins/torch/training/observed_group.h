// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "plugin/trainer.h"
#include "torch/training/torch_group.h"

namespace paceline::torch_plugin {

// What the Reducer hands its buckets to: the group's own backend, so that nothing differs from plain DDP, and
// a recorder that is told of every bucket; on a device over gloo, of its beginning only.
class ObservedGroup : public c10d::ProcessGroup {
 public:
  explicit ObservedGroup(const TorchGroup& group);
  ~ObservedGroup() override;
  // c10d's name: cannot follow ours.
  c10::intrusive_ptr<c10d::Work> allreduce(
      std::vector<at::Tensor>& tensors,
      const c10d::AllreduceOptions& options = c10d::AllreduceOptions()) override;

  // From now on the recorder hears of buckets; with the last of so many, communication is all that is left.
  void watch(plugin::StepRecorder& recorder, std::size_t buckets);
  // Waits until the recorder has heard of the end of every bucket that was launched.
  void settle();
  // The recorder hears nothing more, whatever is still under way.
  void unwatch();

 private:
  struct Watch;
  std::shared_ptr<Watch> watch_;  // shared with callbacks that may come late
};

}  // namespace paceline::torch_plugin
