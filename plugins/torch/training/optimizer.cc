// SPDX-License-Identifier: MIT
#include "torch/training/optimizer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "base/error.h"

namespace paceline::torch_plugin {
namespace {

std::vector<at::Tensor> zeros_for(const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> zeros;
  for (const auto& parameter : parameters) zeros.push_back(at::zeros_like(parameter));
  return zeros;
}

// The `items` whose parameter has a gradient.
std::vector<at::Tensor> with_gradient(const std::vector<at::Tensor>& items,
                                      const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> chosen;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (parameters[i].grad().defined()) chosen.push_back(items[i]);
  return chosen;
}

std::optional<at::Tensor> given(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

// Momentum starts at 0, which gives PyTorch's first step: the buffer becomes the gradient.
class Sgd : public Optimizer {
 public:
  Sgd(const plugin::OptimizerSettings& settings, std::vector<at::Tensor> parameters)
      : settings_(settings), parameters_(std::move(parameters)) {
    if (settings.momentum != 0) momentum_ = zeros_for(parameters_);
  }
  void step(double learning_rate, const at::Tensor& found_inf) override {
    const at::NoGradGuard no_grad;
    const auto used = with_gradient(parameters_, parameters_);
    if (used.empty()) return;
    const auto momentum = momentum_.empty() ? momentum_ : with_gradient(momentum_, parameters_);
    at::_fused_sgd_(used, gradients_of(parameters_), momentum, settings_.weight_decay, settings_.momentum,
                    learning_rate, /*dampening=*/0, settings_.nesterov, /*maximize=*/false,
                    /*is_first_step=*/false, /*grad_scale=*/{}, given(found_inf));
  }
  std::vector<at::Tensor> state() const override { return momentum_; }
  std::string implementation() const override { return "_fused_sgd_"; }

 private:
  plugin::OptimizerSettings settings_;
  std::vector<at::Tensor> parameters_, momentum_;
};

// Adam and AdamW, which differ in what weight decay is subtracted from.
class Adam : public Optimizer {
 public:
  Adam(const plugin::OptimizerSettings& settings, std::vector<at::Tensor> parameters)
      : settings_(settings),
        parameters_(std::move(parameters)),
        means_(zeros_for(parameters_)),
        squares_(zeros_for(parameters_)) {
    for (const auto& parameter : parameters_)
      steps_.push_back(at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false)));
  }
  void step(double learning_rate, const at::Tensor& found_inf) override {
    const at::NoGradGuard no_grad;
    const auto used = with_gradient(parameters_, parameters_);
    if (used.empty()) return;
    const auto steps = with_gradient(steps_, parameters_);
    if (found_inf.defined())
      at::_foreach_add_(steps, (1 - found_inf).squeeze());  // a skipped step does not count
    else
      at::_foreach_add_(steps, 1);
    const auto call = [&](auto&& kernel) {
      kernel(used, gradients_of(parameters_), with_gradient(means_, parameters_),
             with_gradient(squares_, parameters_), at::TensorList(), steps, learning_rate, settings_.beta1,
             settings_.beta2, settings_.weight_decay, settings_.eps, /*amsgrad=*/false, /*maximize=*/false,
             /*grad_scale=*/std::optional<at::Tensor>(), given(found_inf));
    };
    if (decoupled())
      call([](auto&&... all) { at::_fused_adamw_(all...); });
    else
      call([](auto&&... all) { at::_fused_adam_(all...); });
  }
  std::vector<at::Tensor> state() const override {
    auto all = means_;
    all.insert(all.end(), squares_.begin(), squares_.end());
    all.insert(all.end(), steps_.begin(), steps_.end());
    return all;
  }
  std::string implementation() const override { return decoupled() ? "_fused_adamw_" : "_fused_adam_"; }

 private:
  [[nodiscard]] bool decoupled() const { return settings_.name == "adamw"; }

  plugin::OptimizerSettings settings_;
  std::vector<at::Tensor> parameters_, means_, squares_, steps_;
};

struct RangeRow {
  const char* name;
  double value, from, below;
};

void check_range(const RangeRow& row) {
  if (!(row.value >= row.from && row.value < row.below))
    throw Error(ErrorCode::kUsage, fmt::format("optimizer {} is {}; it must be at least {} and below {}",
                                               row.name, row.value, row.from, row.below));
}

void check(const plugin::OptimizerSettings& settings) {
  for (const auto& row :
       {RangeRow{"momentum", settings.momentum, 0, 1}, RangeRow{"beta1", settings.beta1, 0, 1},
        RangeRow{"beta2", settings.beta2, 0, 1}, RangeRow{"eps", settings.eps, 0, 1e6},
        RangeRow{"weight_decay", settings.weight_decay, 0, 1e6}})
    check_range(row);
  if (settings.name == "sgd" && settings.nesterov && settings.momentum == 0)
    throw Error(ErrorCode::kUsage, "optimizer nesterov needs a momentum above 0");
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const plugin::OptimizerSettings& settings,
                                          std::vector<at::Tensor> parameters) {
  check(settings);
  if (settings.name == "sgd") return std::make_unique<Sgd>(settings, std::move(parameters));
  if (settings.name == "adamw" || settings.name == "adam")
    return std::make_unique<Adam>(settings, std::move(parameters));
  throw Error(ErrorCode::kUsage,
              fmt::format("unknown optimizer '{}'; there are: sgd, adamw, adam", settings.name));
}

void clip_gradients(const std::vector<at::Tensor>& gradients, double largest) {
  if (gradients.empty()) return;
  const at::NoGradGuard no_grad;
  const auto norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
  at::_foreach_mul_(gradients, at::clamp_max(largest / (norm + 1e-6), 1.0));
}

std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : parameters)
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  return gradients;
}

}  // namespace paceline::torch_plugin
