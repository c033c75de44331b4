// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

#include "plugin/trainer.h"
#include "torch/models/model.h"
#include "torch/training/observed_group.h"
#include "torch/training/torch_group.h"

namespace paceline::torch_plugin {

// PyTorch's DistributedDataParallel around c10d's Reducer, with the same calls in the same order as in its
// Python class. The model's form (layout, device) must be final. All calls are collective.
class DataParallel {
 public:
  // Broadcasts rank 0's parameters and buffers. Error(kUsage) for settings that do not exist.
  // `link_delay_s`: by how much the exchange of every bucket is made longer, on purpose.
  DataParallel(Model& model, TorchGroup& group, const plugin::DdpSettings& settings, double link_delay_s = 0);

  // Called around every forward pass of training. `last`: the following backward pass exchanges gradients;
  // the others of an accumulated step add theirs up locally.
  void before_forward(bool last);
  void after_forward(at::Tensor& output, bool last);

  // Called between before_forward(true) and the backward pass: reports buckets to `recorder`.
  void watch(plugin::StepRecorder& recorder) { group_->watch(recorder, bucket_bytes().size()); }
  void settle() { group_->settle(); }
  void unwatch() { group_->unwatch(); }

  [[nodiscard]] std::vector<std::int64_t> bucket_bytes() const;
  [[nodiscard]] bool rebuilt() const { return rebuilt_; }
  // Called between before_forward and the forward pass: rank 0's running statistics win, as in PyTorch.
  [[nodiscard]] bool buffers_are_due() const;
  void broadcast_buffers();

 private:
  void share_state(Model& model);
  [[nodiscard]] bool exchanges(bool sync) const;

  plugin::DdpSettings settings_;
  c10::intrusive_ptr<ObservedGroup> group_;
  std::vector<at::Tensor> parameters_, buffers_;
  std::shared_ptr<c10d::Reducer> reducer_;
  std::shared_ptr<c10d::Logger> logger_;
  bool rebuilt_ = false;
  bool buffers_may_differ_ = true;  // PyTorch's require_forward_param_sync
  bool delay_queued_ = false;
};

}  // namespace paceline::torch_plugin
