// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "torch/models/model.h"

// Leaf layers that the models share, with uninitialised parameters: torch::nn's own would spend seconds on
// random numbers we then replace.
namespace paceline::torch_plugin {

struct ConvShape {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool bias = false;
};

class Conv2d : public torch::nn::Module {
 public:
  explicit Conv2d(const ConvShape& shape);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  ConvShape shape_;
  at::Tensor weight_, bias_;
};

// In training uses the statistics of the batch and updates the running ones (momentum 0.1), else uses those.
class BatchNorm2d : public torch::nn::Module {
 public:
  explicit BatchNorm2d(std::int64_t channels);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  at::Tensor weight_, bias_, mean_, variance_;
};

class Linear : public torch::nn::Module {
 public:
  Linear(std::int64_t in, std::int64_t out);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  at::Tensor weight_, bias_;
};

// GPT-2's linear layer, whose weight is stored [in, out].
class TransposedLinear : public torch::nn::Module {
 public:
  TransposedLinear(std::int64_t in, std::int64_t out);
  at::Tensor forward(const at::Tensor& x) const;  // [N, S, in] -> [N, S, out]

 private:
  std::int64_t in_, out_;
  at::Tensor weight_, bias_;
};

class LayerNorm : public torch::nn::Module {
 public:
  LayerNorm(std::int64_t width, double eps);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  std::int64_t width_;
  double eps_;
  at::Tensor weight_, bias_;
};

class Embedding : public torch::nn::Module {
 public:
  Embedding(std::int64_t rows, std::int64_t width);
  at::Tensor forward(const at::Tensor& ids) const;
  const at::Tensor& weight() const { return weight_; }

 private:
  at::Tensor weight_;
};

// While training, drops values and scales the others up; the identity otherwise.
class Dropout : public torch::nn::Module {
 public:
  explicit Dropout(double share) : share_(share) {}
  at::Tensor forward(const at::Tensor& x) const;
  // The share that is dropped now; for operators that drop themselves.
  double share() const { return is_training() ? share_ : 0; }
  void switch_off() { share_ = 0; }

 private:
  double share_;
};

// [N, S, width] -> [N, heads, S, width / heads], and back.
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);
at::Tensor merge_heads(const at::Tensor& x);

}  // namespace paceline::torch_plugin
