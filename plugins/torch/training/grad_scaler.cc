// SPDX-License-Identifier: MIT
#include "torch/training/grad_scaler.h"

#include <ATen/ATen.h>

namespace paceline::torch_plugin {

GradScaler::GradScaler(const ScalerSettings& settings, at::Device device)
    : settings_(settings),
      scale_(at::full({1}, settings.init_scale, at::TensorOptions().dtype(at::kFloat).device(device))),
      good_steps_(at::zeros({1}, at::TensorOptions().dtype(at::kInt).device(device))),
      found_inf_(at::zeros({1}, at::TensorOptions().dtype(at::kFloat).device(device))) {}

void GradScaler::unscale(const std::vector<at::Tensor>& gradients) {
  const at::NoGradGuard no_grad;
  found_inf_.zero_();
  const auto inverse = scale_.to(at::kDouble).reciprocal().to(at::kFloat);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf_, inverse);
}

void GradScaler::update() {
  const at::NoGradGuard no_grad;
  at::_amp_update_scale_(scale_, good_steps_, found_inf_, settings_.growth_factor, settings_.backoff_factor,
                         settings_.growth_interval);
}

}  // namespace paceline::torch_plugin
