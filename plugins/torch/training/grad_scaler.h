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
  std::int64_t growth_interval = 2000;  // finite steps in a row before the scale grows
};

// torch.amp.GradScaler: scales the loss up so that small float16 gradients do not vanish; a step whose
// gradients are not finite is skipped, and the scale is halved.
class GradScaler {
 public:
  GradScaler(const ScalerSettings& settings, at::Device device);
  [[nodiscard]] at::Tensor scale(const at::Tensor& loss) const { return loss * scale_; }
  // Divides the gradients by the scale, in place, and checks whether all are finite, without waiting.
  void unscale(const std::vector<at::Tensor>& gradients);
  // After unscale, on the device: 1 where one of the gradients is not finite, else 0.
  [[nodiscard]] const at::Tensor& found_inf() const { return found_inf_; }
  // After unscale: updates the scale for the next step.
  void update();
  [[nodiscard]] const at::Tensor& scale() const { return scale_; }
  [[nodiscard]] std::vector<at::Tensor> state() const { return {scale_, good_steps_}; }

 private:
  ScalerSettings settings_;
  at::Tensor scale_, good_steps_, found_inf_;
};

}  // namespace paceline::torch_plugin
