// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "plugin/trainer.h"

namespace paceline::torch_plugin {

// SGD, AdamW and Adam by PyTorch's rules on ATen's fused kernels, and clipping of gradients. Parameters
// without a gradient are left as they are.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // `found_inf` is GradScaler's: where it is 1 nothing changes. Undefined: always steps. The host does not
  // wait for a device.
  virtual void step(double learning_rate, const at::Tensor& found_inf) = 0;
  // Everything except parameters that the next step depends on, in a fixed order; restoring writes into it.
  [[nodiscard]] virtual std::vector<at::Tensor> state() const = 0;
  [[nodiscard]] virtual std::string implementation() const = 0;  // the kernel's name
};

// Error(kUsage) for names other than sgd, adamw and adam, and for values out of range.
std::unique_ptr<Optimizer> make_optimizer(const plugin::OptimizerSettings& settings,
                                          std::vector<at::Tensor> parameters);

// torch.nn.utils.clip_grad_norm_: scales all gradients so that their total norm is at most `largest`.
void clip_gradients(const std::vector<at::Tensor>& gradients, double largest);

// The gradients of those parameters that have one.
std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters);

}  // namespace paceline::torch_plugin
