// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace paceline::torch_plugin {

struct ScalerSettings {  // PyTorch's defaults
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;  // good steps in a row before the scale grows
};

// torch.amp.GradScaler: the loss is scaled up so that small float16 gradients do not vanish; a step whose
// gradients are not finite is skipped, and the scale halved.
class GradScaler {
 public:
  GradScaler(const ScalerSettings& settings, at::Device device);
  [[nodiscard]] at::Tensor scale(const at::Tensor& loss) const { return loss * scale_; }
  // Divides the gradients by the scale, in place. False: one of them is not finite.
  [[nodiscard]] bool unscale(const std::vector<at::Tensor>& gradients);
  // After unscale: what the next step's scale is.
  void update();
  [[nodiscard]] double scale() const;
  [[nodiscard]] std::vector<at::Tensor> state() const { return {scale_, good_steps_}; }

 private:
  ScalerSettings settings_;
  at::Tensor scale_, good_steps_, found_inf_;
};

}  // namespace paceline::torch_plugin
