// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "plugin/rank_group.h"

namespace paceline::torch_plugin {

// One of c10d's backends. It is shut down at its end, but not after a failure: its threads may wait for a
// peer for ever then, and the process is about to leave.
class TorchGroup : public plugin::RankGroup {
 public:
  using Backend = c10::intrusive_ptr<c10d::Backend>;
  using BackendType = c10d::ProcessGroup::BackendType;

  TorchGroup(std::shared_ptr<plugin::Store> store, Backend backend, BackendType type, at::Device device);
  ~TorchGroup() override;
  int rank() const override { return backend_->getRank(); }
  int world() const override { return backend_->getSize(); }
  void barrier() override;
  void broadcast(std::span<std::byte> data, int root) override;
  void reduce_max(std::span<double> values) override;
  std::vector<std::string> gather(const std::string& mine) override;

  [[nodiscard]] const Backend& backend() const { return backend_; }
  [[nodiscard]] BackendType backend_type() const { return type_; }
  [[nodiscard]] at::Device device() const { return device_; }
  // The error to throw for what `work` threw; afterwards the group is not taken down any more.
  [[nodiscard]] Error failed(const std::string& what, const std::exception& cause);
  // Something may be under way that a peer will never finish.
  void abandon() { usable_ = false; }

 private:
  template <typename Start>
  void complete(const std::string& what, Start&& start);
  [[nodiscard]] std::vector<std::int64_t> sizes_of_all(std::int64_t mine);
  [[nodiscard]] std::vector<at::Tensor> collect(const at::Tensor& mine);

  std::shared_ptr<plugin::Store> store_;
  Backend backend_;
  BackendType type_;
  at::Device device_;   // of the tensors that are reduced
  at::Device control_;  // of small messages: what the host says to other hosts, where the backend takes it
  bool usable_ = true;
};

// A group on gloo whose tensors are on `device`: gloo takes those of a CUDA device through host memory.
// Error(kUnavailable) names who did not come.
std::unique_ptr<plugin::RankGroup> join_gloo_on(std::shared_ptr<plugin::Store> store,
                                                const plugin::GroupSpec& spec, at::Device device);

// The group behind the interface. Error(kUsage) when it is of another plug-in.
TorchGroup& as_torch_group(plugin::RankGroup& group);

}  // namespace paceline::torch_plugin
