// SPDX-License-Identifier: MIT
#include "torch/training/data_parallel.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/engine.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "torch/errors.h"

namespace paceline::torch_plugin {
namespace {

// Hooks that send gradients in 16 bits.
struct HookRow {
  std::string_view name;
  at::ScalarType type;
};
constexpr HookRow kHooks[] = {{"fp16_compress", at::kHalf}, {"bf16_compress", at::kBFloat16}};

const HookRow* find_hook(const std::string& name) {
  for (const auto& row : kHooks)
    if (row.name == name) return &row;
  if (name == "none") return nullptr;
  throw Error(ErrorCode::kUsage,
              fmt::format("unknown comm_hook '{}'; there are: none, fp16_compress, bf16_compress", name));
}

class CompressHook : public c10d::CommHookInterface {
 public:
  CompressHook(c10::intrusive_ptr<c10d::ProcessGroup> group, at::ScalarType type)
      : group_(std::move(group)), type_(type) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const auto gradients = bucket.getBuffer();
    std::vector<at::Tensor> sent{gradients.to(type_).div_(group_->getSize())};
    const auto widen = [gradients](c10::ivalue::Future& sum) -> c10::IValue {
      gradients.copy_(sum.value().toTensorVector().front());
      return gradients;
    };
    return group_->allreduce(sent)->getFuture()->then(widen, c10::TensorType::get());
  }
  at::Tensor parseHookResult(const c10::IValue& result) override { return result.toTensor(); }

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  at::ScalarType type_;
};

// Throws Error(kUnsupported) when the group's library cannot add up that type. Collective.
void check_comm_hook(const std::string& name, TorchGroup& group) {
  const auto* hook = find_hook(name);
  if (!hook) return;
  std::vector<at::Tensor> probe{at::ones({2}, at::TensorOptions().dtype(hook->type).device(group.device()))};
  translate_errors(ErrorCode::kUnsupported,
                   fmt::format("comm_hook {}: this build of LibTorch cannot add up {} between ranks", name,
                               c10::toString(hook->type)),
                   [&] { group.backend()->allreduce(probe)->wait(); });
}

// Sends gradients like PyTorch's hook of that name: converts, divides by the number of ranks, adds up, and
// converts back.
void install_comm_hook(const std::string& name, c10d::Reducer& reducer,
                       const c10::intrusive_ptr<c10d::ProcessGroup>& group) {
  if (const auto* hook = find_hook(name))
    reducer.register_comm_hook(std::make_unique<CompressHook>(group, hook->type));
}

using Names = std::unordered_map<std::size_t, std::string>;
using Buckets = std::vector<std::vector<std::size_t>>;

constexpr std::size_t kBroadcastBytes = std::size_t{250} << 20;  // PyTorch's broadcast_bucket_size

struct Caps {
  std::int64_t first, others;
};

// As in PyTorch, a capacity set by the user holds for the first bucket too.
Caps caps_of(const plugin::DdpSettings& settings) {
  if (!(settings.bucket_cap_mb > 0))
    throw Error(ErrorCode::kUsage,
                fmt::format("bucket_cap_mb is {}; it must be above 0", settings.bucket_cap_mb));
  const auto cap = static_cast<std::int64_t>(settings.bucket_cap_mb * 1024 * 1024);
  const bool is_default = cap == c10d::kDefaultBucketBytesCap;
  return {is_default ? std::int64_t{c10d::kDefaultFirstBucketBytes} : cap, cap};
}

// Where the order of gradients is learnt in the first step, that step has one bucket.
std::vector<std::size_t> first_limits(const plugin::DdpSettings& settings, const Caps& caps) {
  if (settings.static_graph || !settings.find_unused_parameters)
    return {static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())};
  if (caps.first == caps.others) return {static_cast<std::size_t>(caps.others)};
  return {static_cast<std::size_t>(caps.first), static_cast<std::size_t>(caps.others)};
}

Buckets assign_buckets(const std::vector<at::Tensor>& parameters, const plugin::DdpSettings& settings) {
  auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
      parameters, first_limits(settings, caps_of(settings)), std::vector<bool>(parameters.size(), false)));
  std::reverse(buckets.begin(), buckets.end());  // gradients are ready in about the reverse order of use
  return buckets;
}

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

// Arguments that releases of LibTorch append to the constructor's: two switches, then a list of capacities.
template <typename... Common>
std::shared_ptr<c10d::Reducer> construct_reducer(Common... common) {
  using List = std::vector<std::int64_t>;
  if constexpr (std::is_constructible_v<c10d::Reducer, Common..., bool, bool, List>)
    return std::make_shared<c10d::Reducer>(common..., false, false, List{});
  else if constexpr (std::is_constructible_v<c10d::Reducer, Common..., bool, bool>)
    return std::make_shared<c10d::Reducer>(common..., false, false);
  else
    return std::make_shared<c10d::Reducer>(common...);
}

std::shared_ptr<c10d::Reducer> make_reducer(const std::vector<at::Tensor>& parameters, const Names& names,
                                            const Group& group, const plugin::DdpSettings& settings) {
  const auto caps = caps_of(settings);
  return construct_reducer(
      parameters, assign_buckets(parameters, settings), group, std::vector<bool>(parameters.size(), false),
      caps.others, settings.find_unused_parameters, settings.gradient_as_bucket_view, names, caps.first);
}

std::vector<at::Tensor> detached(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const auto& tensor : tensors) result.push_back(tensor.detach());
  return result;
}

}  // namespace

DataParallel::DataParallel(Model& model, TorchGroup& group, const plugin::DdpSettings& settings,
                           double link_delay_s)
    : settings_(settings),
      group_(c10::make_intrusive<ObservedGroup>(group, link_delay_s)),
      buffers_(model.buffers()) {
  check_comm_hook(settings.comm_hook, group);
  Names names;
  for (const auto& item : model.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    names[parameters_.size()] = item.key();
    parameters_.push_back(item.value());
  }
  c10d::verify_params_across_processes(group_, parameters_, {});
  share_state(model);
  reducer_ = make_reducer(parameters_, names, group_, settings);
  // On a device, the Reducer's own timers make the host wait for the previous step in every hundredth step.
  if (!group.device().is_cpu())
    reducer_->set_ddp_runtime_logging_sample_rate(std::numeric_limits<int>::max());
  logger_ = std::make_shared<c10d::Logger>(reducer_);
  reducer_->set_logger(logger_);
  logger_->set_construction_data_and_log("", {}, -1, settings.broadcast_buffers, /*has_sync_bn=*/false,
                                         settings.static_graph);
  if (settings.static_graph) {
    reducer_->set_static_graph();
    logger_->set_static_graph();
  }
  install_comm_hook(settings.comm_hook, *reducer_, group_);
}

void DataParallel::share_state(Model& model) {
  const at::NoGradGuard no_grad;
  auto state = detached(model.parameters());
  for (auto& buffer : detached(buffers_)) state.push_back(std::move(buffer));
  c10d::broadcast_coalesced(group_, state, kBroadcastBytes, 0);
}

void DataParallel::broadcast_buffers() {
  const at::NoGradGuard no_grad;
  c10d::broadcast_coalesced(group_, detached(buffers_), kBroadcastBytes, 0);
}

// PyTorch cannot begin a static graph without an exchange: its first passes all exchange, for the same sum.
bool DataParallel::exchanges(bool sync) const {
  return sync || (settings_.static_graph && !delay_queued_);
}

void DataParallel::before_forward(bool last) {
  const bool sync = exchanges(last);
  if (sync) {
    logger_->set_runtime_stats_and_log();
    reducer_->prepare_for_forward();
  }
  rebuilt_ |= reducer_->rebuild_buckets();
}

bool DataParallel::buffers_are_due() const {
  return buffers_may_differ_ && settings_.broadcast_buffers && !buffers_.empty();
}

void DataParallel::after_forward(at::Tensor& output, bool last) {
  const bool sync = exchanges(last);
  buffers_may_differ_ = sync;
  const bool search = settings_.find_unused_parameters && !settings_.static_graph;
  if (sync)
    reducer_->prepare_for_backward(search ? std::vector<at::Tensor>{output} : std::vector<at::Tensor>{});
  if (!settings_.static_graph || delay_queued_) return;
  // In the first backward pass over a static graph, all gradients are reduced after the last one.
  output.register_hook([this](const at::Tensor&) {
    if (std::exchange(delay_queued_, true)) return;
    torch::autograd::Engine::get_default_engine().queue_callback([this] { reducer_->delay_all_reduce(); });
  });
}

std::vector<std::int64_t> DataParallel::bucket_bytes() const {
  return logger_->get_bucket_sizes();
}

}  // namespace paceline::torch_plugin
