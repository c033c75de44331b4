// SPDX-License-Identifier: MIT
// A group of ranks on one of c10d's backends.
#pragma once
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "plugin/rank_group.h"

namespace paceline::torch_plugin {

// Two of c10d's backends, which may be the same: gradients use the first, small messages of the host use
// gloo. So messages neither wait behind gradients nor count as sent where NCCL has aborted. Both are shut
// down at the end, but not after a failure: threads may then wait for a peer for ever, and the process is
// about to exit.
class TorchGroup : public plugin::RankGroup {
 public:
  using Backend = c10::intrusive_ptr<c10d::Backend>;
  using BackendType = c10d::ProcessGroup::BackendType;

  TorchGroup(std::shared_ptr<plugin::Store> store, Backend backend, BackendType type, at::Device device,
             Backend control);
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
  // The error to throw for what `work` threw; the group is not shut down after it.
  [[nodiscard]] Error failed(const std::string& what, const std::exception& cause);
  // Throws what `failed` returns when NCCL has aborted: results exchanged since then are invalid.
  void check_health();
  // Something may be in flight that a peer will never finish.
  void abandon() { usable_ = false; }

 private:
  template <typename Start>
  void complete(const std::string& what, Start&& start);
  [[nodiscard]] std::vector<std::int64_t> sizes_of_all(std::int64_t mine);
  [[nodiscard]] std::vector<at::Tensor> collect(const at::Tensor& mine);

  std::shared_ptr<plugin::Store> store_;
  Backend backend_, control_;
  BackendType type_;
  at::Device device_;  // of the tensors that are reduced
  bool usable_ = true;
};

class TorchStore;
// gloo among the ranks, over the interface that `spec` names. Throws c10d's exceptions.
TorchGroup::Backend make_gloo(TorchStore& store, const plugin::GroupSpec& spec);

// A group on gloo whose tensors are on `device`: gloo copies those of a CUDA device through host memory.
// Error(kUnavailable) names the ranks that did not come.
std::unique_ptr<plugin::RankGroup> join_gloo_on(std::shared_ptr<plugin::Store> store,
                                                const plugin::GroupSpec& spec, at::Device device);

// The group behind the interface. Error(kUsage) when it belongs to another plug-in.
TorchGroup& as_torch_group(plugin::RankGroup& group);

}  // namespace paceline::torch_plugin
