// SPDX-License-Identifier: MIT
#include "torch/models/builders.h"
#include "torch/models/layers.h"

// A network small enough for tests, and single operators that show what this machine can do at best.
namespace paceline::torch_plugin {
namespace {

class TinyCnn : public Model {
 public:
  explicit TinyCnn(std::int64_t classes) {
    conv1_ = add_layer<Conv2d>(*this, "conv1", ConvShape{3, 16, 3, 1, 1});
    bn1_ = add_layer<BatchNorm2d>(*this, "bn1", 16);
    conv2_ = add_layer<Conv2d>(*this, "conv2", ConvShape{16, 32, 3, 1, 1});
    bn2_ = add_layer<BatchNorm2d>(*this, "bn2", 32);
    fc_ = add_layer<Linear>(*this, "fc", 32 * 8 * 8, classes);
  }
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    auto x = at::max_pool2d(bn1_->forward(conv1_->forward(inputs[0])).relu_(), 2);
    x = at::max_pool2d(bn2_->forward(conv2_->forward(x)).relu_(), 2);
    return fc_->forward(x.flatten(1));
  }

 private:
  std::shared_ptr<Conv2d> conv1_, conv2_;
  std::shared_ptr<BatchNorm2d> bn1_, bn2_;
  std::shared_ptr<Linear> fc_;
};

class PeakGemm : public Model {
 public:
  PeakGemm() : b_(register_parameter("b", at::empty({2048, 2048}), /*requires_grad=*/false)) {}
  at::Tensor run(std::span<const at::Tensor> inputs) override { return at::matmul(inputs[0], b_); }

 private:
  at::Tensor b_;
};

class PeakConv : public Model {
 public:
  PeakConv() : conv_(add_layer<Conv2d>(*this, "conv", ConvShape{128, 128, 3, 1, 1})) {}
  at::Tensor run(std::span<const at::Tensor> inputs) override { return conv_->forward(inputs[0]); }

 private:
  std::shared_ptr<Conv2d> conv_;
};

}  // namespace

std::shared_ptr<Model> build_tiny_cnn(std::int64_t classes) {
  return std::make_shared<TinyCnn>(classes);
}
std::shared_ptr<Model> build_peak_gemm() {
  return std::make_shared<PeakGemm>();
}
std::shared_ptr<Model> build_peak_conv() {
  return std::make_shared<PeakConv>();
}

}  // namespace paceline::torch_plugin
