// SPDX-License-Identifier: MIT
#include "torch/training/torch_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "torch/errors.h"
#include "torch/training/make.h"
#include "torch/training/peer_errors.h"
#include "torch/training/torch_store.h"

namespace paceline::torch_plugin {
namespace {

using std::chrono::milliseconds;

// While joining, gloo multiplies its timeout by five; all ranks have answered the roll call by then.
constexpr double kJoinTimeoutS = 15;

milliseconds timeout_of(double seconds) {
  return milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

at::Tensor borrow(void* data, std::size_t count, at::ScalarType type) {
  return at::from_blob(data, {static_cast<std::int64_t>(count)}, at::TensorOptions().dtype(type));
}

}  // namespace

TorchGroup::Backend make_gloo(TorchStore& store, const plugin::GroupSpec& spec) {
  const auto address = spec.local_address.empty() ? "127.0.0.1" : spec.local_address;
  auto options = c10d::ProcessGroupGloo::Options::create(timeout_of(std::min(spec.timeout_s, kJoinTimeoutS)));
  options->devices.push_back(translate_errors(
      ErrorCode::kUnavailable, fmt::format("cannot communicate from the address '{}'", address),
      [&] { return c10d::ProcessGroupGloo::createDeviceForHostname(address); }));
  TorchGroup::Backend gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
      store.keys_of_next_group(), spec.rank, spec.world, std::move(options));
  gloo->setTimeout(timeout_of(spec.timeout_s));
  return gloo;
}

TorchGroup::TorchGroup(std::shared_ptr<plugin::Store> store, Backend backend, BackendType type,
                       at::Device device, Backend control)
    : store_(std::move(store)),
      backend_(std::move(backend)),
      control_(std::move(control)),
      type_(type),
      device_(device) {}

TorchGroup::~TorchGroup() {
  if (std::uncaught_exceptions() > 0) usable_ = false;  // peers may be in a collective that we never join
  try {
    if (usable_) backend_->shutdown();
  } catch (const std::exception&) {  // a peer was faster
    usable_ = false;
  }
  if (usable_) return;
  static_cast<void>(backend_.release());
  static_cast<void>(control_.release());
}

void TorchGroup::check_health() {
  if (type_ == BackendType::NCCL && backend_->getError() != c10d::ErrorType::SUCCESS)
    throw failed("gradients were not exchanged", std::runtime_error("NCCL communicator was aborted"));
}

Error TorchGroup::failed(const std::string& what, const std::exception& cause) {
  usable_ = false;
  return {ErrorCode::kUnavailable,
          fmt::format("rank {}: {}: {}", rank(), what, peer_failure(cause).value_or(reason_of(cause)))};
}

template <typename Start>
void TorchGroup::complete(const std::string& what, Start&& start) {
  try {
    start()->wait();
  } catch (const std::exception& e) {
    throw failed(what, e);
  }
}

void TorchGroup::barrier() {
  complete("the barrier failed", [&] { return control_->barrier(); });
}

void TorchGroup::broadcast(std::span<std::byte> data, int root) {
  const auto bytes = borrow(data.data(), data.size(), at::kByte);
  std::vector<at::Tensor> tensors{bytes};
  c10d::BroadcastOptions options;
  options.rootRank = root;
  complete("the broadcast failed", [&] { return control_->broadcast(tensors, options); });
}

void TorchGroup::reduce_max(std::span<double> values) {
  const auto numbers = borrow(values.data(), values.size(), at::kDouble);
  std::vector<at::Tensor> tensors{numbers};
  c10d::AllreduceOptions options;
  options.reduceOp = c10d::ReduceOp::MAX;
  complete("the reduction failed", [&] { return control_->allreduce(tensors, options); });
}

std::vector<at::Tensor> TorchGroup::collect(const at::Tensor& mine) {
  std::vector<at::Tensor> inputs{mine};
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int i = 0; i < world(); ++i) outputs[0].push_back(at::empty_like(mine));
  complete("the gathering failed", [&] { return control_->allgather(outputs, inputs); });
  return outputs[0];
}

std::vector<std::int64_t> TorchGroup::sizes_of_all(std::int64_t mine) {
  std::vector<std::int64_t> sizes;
  for (const auto& size : collect(at::full({1}, mine, at::kLong))) sizes.push_back(size.item<std::int64_t>());
  return sizes;
}

std::vector<std::string> TorchGroup::gather(const std::string& mine) {
  const auto sizes = sizes_of_all(static_cast<std::int64_t>(mine.size()));
  const auto largest = std::max<std::int64_t>(*std::max_element(sizes.begin(), sizes.end()), 1);
  auto padded = at::zeros({largest}, at::kByte);
  std::memcpy(padded.data_ptr(), mine.data(), mine.size());
  const auto all = collect(padded);
  std::vector<std::string> texts;
  if (rank() != 0) return texts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    texts.emplace_back(static_cast<const char*>(all[i].data_ptr()), static_cast<std::size_t>(sizes[i]));
  }
  return texts;
}

TorchGroup& as_torch_group(plugin::RankGroup& group) {
  auto* torch = dynamic_cast<TorchGroup*>(&group);
  if (!torch) throw Error(ErrorCode::kUsage, "trainer and group must come from the same plug-in");
  return *torch;
}

std::unique_ptr<plugin::RankGroup> join_gloo(std::shared_ptr<plugin::Store> store,
                                             const plugin::GroupSpec& spec) {
  if (spec.device.kind != DeviceKind::kCpu)
    throw Error(ErrorCode::kUnsupported,
                "this plug-in trains tensors of the CPU only; the cuda plug-in has those of a device");
  return join_gloo_on(std::move(store), spec, at::kCPU);
}

std::unique_ptr<plugin::RankGroup> join_gloo_on(std::shared_ptr<plugin::Store> store,
                                                const plugin::GroupSpec& spec, at::Device device) {
  auto* torch_store = dynamic_cast<TorchStore*>(store.get());
  if (!torch_store) throw Error(ErrorCode::kUsage, "store and group must come from the same plug-in");
  try {
    auto gloo = make_gloo(*torch_store, spec);
    return std::make_unique<TorchGroup>(std::move(store), gloo, TorchGroup::BackendType::GLOO, device, gloo);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw Error(ErrorCode::kUnavailable, fmt::format("rank {} of {} cannot join the group: {}", spec.rank,
                                                     spec.world, peer_failure(e).value_or(reason_of(e))));
  }
}

}  // namespace paceline::torch_plugin
