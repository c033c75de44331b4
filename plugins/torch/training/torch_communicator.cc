// SPDX-License-Identifier: MIT
// Runs collectives by themselves, on the backend and the device of a group.
#include "torch/training/torch_communicator.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <array>

#include "torch/errors.h"
#include "torch/tensors.h"
#include "torch/training/peer_errors.h"
#include "torch/training/torch_group.h"

namespace paceline::torch_plugin {
namespace {

using plugin::CollectiveCall;
using Work = c10::intrusive_ptr<c10d::Work>;
using Works = std::vector<Work>;
using c10d::ReduceOp;

// In the order of Reduction.
constexpr std::array<ReduceOp::RedOpType, kReductions.size()> kReduceOps{
    ReduceOp::SUM, ReduceOp::PRODUCT, ReduceOp::MIN, ReduceOp::MAX, ReduceOp::AVG};

// The smaller buffer as part of the larger one, at this rank's place.
at::Tensor part_of(const at::Tensor& whole, std::int64_t count, int rank) {
  return whole.numel() == count ? whole : whole.narrow(0, rank * count, count);
}

class TorchCommunicator : public plugin::Communicator {
 public:
  explicit TorchCommunicator(TorchGroup& group) : group_(group) {}

  void prepare(const CollectiveCall& call) override {
    call_ = call;
    tried_ = false;
    send_ = receive_ = at::Tensor();
    translate_errors(ErrorCode::kUnsupported, name(), [&] { make_buffers(); });
  }

  void write(std::span<const std::byte> data) override {
    if (has_size(send_, data.size()))
      send_.copy_(on_host(send_, const_cast<std::byte*>(data.data())));  // only read
  }
  void read(std::span<std::byte> data) override {
    if (has_size(receive_, data.size())) on_host(receive_, data.data()).copy_(receive_);
  }

  void start() override {
    try {
      works_ = issue();
      if (start_completes()) finish();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      throw refused(e);
    }
    tried_ = true;
  }

  void finish() override {
    try {
      for (const auto& work : works_) work->wait();
      if (!start_completes())
        c10::impl::VirtualGuardImpl(group_.device().type()).getStream(group_.device()).synchronize();
    } catch (const std::exception& e) {
      works_.clear();
      throw refused(e);
    }
    works_.clear();
    group_.check_health();
  }

  [[nodiscard]] bool start_completes() const override {
    return group_.backend_type() == TorchGroup::BackendType::GLOO;
  }

 private:
  static at::Tensor on_host(const at::Tensor& like, std::byte* data) {
    return at::from_blob(data, like.sizes(), like.options().device(at::kCPU));
  }
  // False for a barrier, which has no buffers.
  static bool has_size(const at::Tensor& tensor, std::size_t bytes) {
    const auto size = tensor.defined() ? tensor.nbytes() : 0;
    if (size != bytes)
      throw Error(ErrorCode::kUsage, fmt::format("a buffer of {} bytes for one of {}", bytes, size));
    return size > 0;
  }

  void make_buffers() {
    if (call_.operation == Collective::kBarrier) return;
    const auto options = at::TensorOptions().dtype(to_torch(call_.dtype)).device(group_.device());
    const auto make = [&](std::int64_t count) { return at::zeros({count}, options); };
    if (!call_.in_place) {
      send_ = make(call_.send_count), receive_ = make(call_.receive_count);
    } else if (call_.send_count <= call_.receive_count) {
      receive_ = make(call_.receive_count), send_ = part_of(receive_, call_.send_count, group_.rank());
    } else {
      send_ = make(call_.send_count), receive_ = part_of(send_, call_.receive_count, group_.rank());
    }
  }

  // c10d reduces and broadcasts in place alone: whoever keeps the input copies it first.
  std::vector<at::Tensor> in_receive_buffer() {
    if (!call_.in_place) receive_.copy_(send_);
    return {receive_};
  }

  template <typename Options>
  Options reducing() const {
    Options options;
    options.reduceOp = kReduceOps.at(static_cast<std::size_t>(call_.reduction));
    return options;
  }

  Works issue() {
    auto& backend = *group_.backend();
    switch (call_.operation) {
      case Collective::kAllReduce: {
        auto tensors = in_receive_buffer();
        return {backend.allreduce(tensors, reducing<c10d::AllreduceOptions>())};
      }
      case Collective::kReduce: {
        auto tensors = in_receive_buffer();
        auto options = reducing<c10d::ReduceOptions>();
        options.rootRank = call_.root;
        return {backend.reduce(tensors, options)};
      }
      case Collective::kBroadcast: {
        auto tensors = in_receive_buffer();
        c10d::BroadcastOptions options;
        options.rootRank = call_.root;
        return {backend.broadcast(tensors, options)};
      }
      // These names are in every release of LibTorch; from 2.15 on they forward to newer ones.
      case Collective::kAllGather:
        return {backend._allgather_base(receive_, send_)};
      case Collective::kReduceScatter:
        return {backend._reduce_scatter_base(receive_, send_, reducing<c10d::ReduceScatterOptions>())};
      case Collective::kAllToAll: {
        std::vector<std::int64_t> even;
        return {backend.alltoall_base(receive_, send_, even, even)};
      }
      case Collective::kSendRecv:
        return exchange(backend);
      case Collective::kBarrier:
        return {backend.barrier()};
    }
    throw Error(ErrorCode::kUnsupported, name());
  }

  // With NCCL both must be one call, or each rank waits for its send before it receives.
  Works exchange(c10d::Backend& backend) {
    const int next = call_.send_to >= 0 ? call_.send_to : (group_.rank() + 1) % group_.world(),
              before = call_.receive_from >= 0 ? call_.receive_from
                                               : (group_.rank() + group_.world() - 1) % group_.world();
    if (call_.send_to == group_.rank()) {
      receive_.copy_(send_);
      return {};
    }
    std::vector<at::Tensor> out{send_}, in{receive_};
    const bool together = !start_completes();
    if (together) backend.startCoalescing();
    Works works{backend.send(out, next, 0), backend.recv(in, before, 0)};
    if (together) works = {backend.endCoalescing()};
    return works;
  }

  [[nodiscard]] std::string name() const {
    const auto& row = row_of(call_.operation);
    const auto type = std::string(dtype_name(call_.dtype));
    return fmt::format("{} of {}{} over {}", row.name, type,
                       row.reduces ? fmt::format(" ({})", reduction_name(call_.reduction)) : "",
                       group_.backend()->getBackendName());
  }

  // An exception of an operation that never worked on these buffers is a limit of the backend, unless a peer
  // is gone.
  Error refused(const std::exception& e) {
    if (const auto* own = dynamic_cast<const Error*>(&e)) return *own;
    if (tried_ || peer_failure(e)) return group_.failed(name() + " failed", e);
    return {ErrorCode::kUnsupported, fmt::format("{}: {}", name(), reason_of(e))};
  }

  TorchGroup& group_;
  CollectiveCall call_;
  at::Tensor send_, receive_;
  Works works_;
  bool tried_ = false;  // it has worked on these buffers
};

}  // namespace

std::unique_ptr<plugin::Communicator> make_communicator(plugin::RankGroup& group) {
  return std::make_unique<TorchCommunicator>(as_torch_group(group));
}

}  // namespace paceline::torch_plugin
