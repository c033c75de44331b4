// SPDX-License-Identifier: MIT
#include "torch/training/comm_hooks.h"

#include <fmt/format.h>

#include "base/error.h"
#include "torch/errors.h"

namespace paceline::torch_plugin {
namespace {

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

}  // namespace

void check_comm_hook(const std::string& name, TorchGroup& group) {
  const auto* hook = find_hook(name);
  if (!hook) return;
  std::vector<at::Tensor> probe{at::ones({2}, at::TensorOptions().dtype(hook->type).device(group.device()))};
  translate_errors(ErrorCode::kUnsupported,
                   fmt::format("comm_hook {}: this build of LibTorch cannot add up {} between ranks", name,
                               c10::toString(hook->type)),
                   [&] { group.backend()->allreduce(probe)->wait(); });
}

void install_comm_hook(const std::string& name, c10d::Reducer& reducer,
                       const c10::intrusive_ptr<c10d::ProcessGroup>& group) {
  if (const auto* hook = find_hook(name))
    reducer.register_comm_hook(std::make_unique<CompressHook>(group, hook->type));
}

}  // namespace paceline::torch_plugin
