// SPDX-License-Identifier: MIT
#include "torch/models/layers.h"

namespace paceline::torch_plugin {
namespace {

at::Tensor parameter(torch::nn::Module& module, const char* name, at::IntArrayRef shape) {
  return module.register_parameter(name, at::empty(shape), /*requires_grad=*/false);
}

}  // namespace

Conv2d::Conv2d(const ConvShape& shape)
    : shape_(shape),
      weight_(parameter(*this, "weight", {shape.out, shape.in, shape.kernel, shape.kernel})),
      bias_(shape.bias ? parameter(*this, "bias", {shape.out}) : at::Tensor()) {}
at::Tensor Conv2d::forward(const at::Tensor& x) const {
  const std::int64_t s = shape_.stride, p = shape_.padding;
  // TorchScript's oneDNN passes need both numbers of every pair.
  return at::conv2d(x, weight_, bias_, {s, s}, {p, p}, {1, 1});
}

BatchNorm2d::BatchNorm2d(std::int64_t channels)
    : weight_(parameter(*this, "weight", {channels})),
      bias_(parameter(*this, "bias", {channels})),
      mean_(register_buffer("running_mean", at::empty({channels}))),
      variance_(register_buffer("running_var", at::empty({channels}))) {}
at::Tensor BatchNorm2d::forward(const at::Tensor& x) const {
  return at::batch_norm(x, weight_, bias_, mean_, variance_, is_training(), 0.1, 1e-5, /*cudnn=*/true);
}

Linear::Linear(std::int64_t in, std::int64_t out)
    : weight_(parameter(*this, "weight", {out, in})), bias_(parameter(*this, "bias", {out})) {}
at::Tensor Linear::forward(const at::Tensor& x) const {
  return at::linear(x, weight_, bias_);
}

TransposedLinear::TransposedLinear(std::int64_t in, std::int64_t out)
    : in_(in),
      out_(out),
      weight_(parameter(*this, "weight", {in, out})),
      bias_(parameter(*this, "bias", {out})) {}
at::Tensor TransposedLinear::forward(const at::Tensor& x) const {
  return at::addmm(bias_, x.reshape({-1, in_}), weight_).view({-1, x.size(1), out_});
}

LayerNorm::LayerNorm(std::int64_t width, double eps)
    : width_(width),
      eps_(eps),
      weight_(parameter(*this, "weight", {width})),
      bias_(parameter(*this, "bias", {width})) {}
at::Tensor LayerNorm::forward(const at::Tensor& x) const {
  return at::layer_norm(x, {width_}, weight_, bias_, eps_);
}

Embedding::Embedding(std::int64_t rows, std::int64_t width)
    : weight_(parameter(*this, "weight", {rows, width})) {}
at::Tensor Embedding::forward(const at::Tensor& ids) const {
  return at::embedding(weight_, ids);
}

at::Tensor Dropout::forward(const at::Tensor& x) const {
  return share() > 0 ? at::dropout(x, share(), /*train=*/true) : x;
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({-1, x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

at::Tensor merge_heads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape({-1, x.size(2), x.size(1) * x.size(3)});
}

}  // namespace paceline::torch_plugin
