// SPDX-License-Identifier: MIT
#include <vector>

#include "torch/models/builders.h"
#include "torch/models/layers.h"

// Vision Transformer Base, 16x16 patches of a 224x224 image: torchvision's architecture and names.
namespace paceline::torch_plugin {
namespace vit {
namespace {

constexpr std::int64_t kWidth = 768, kHeads = 12, kHidden = 3072, kLayers = 12, kPatch = 16, kTokens = 197;
constexpr double kEps = 1e-6;

class VitAttention : public torch::nn::Module {
 public:
  VitAttention()
      : weight_(register_parameter("in_proj_weight", at::empty({3 * kWidth, kWidth}), false)),
        bias_(register_parameter("in_proj_bias", at::empty({3 * kWidth}), false)),
        out_proj_(add_layer<Linear>(*this, "out_proj", kWidth, kWidth)) {}
  at::Tensor forward(const at::Tensor& x) const {
    const auto parts = at::linear(x, weight_, bias_).chunk(3, 2);
    const auto y = at::scaled_dot_product_attention(
        split_heads(parts[0], kHeads), split_heads(parts[1], kHeads), split_heads(parts[2], kHeads));
    return out_proj_->forward(merge_heads(y));
  }

 private:
  at::Tensor weight_, bias_;
  std::shared_ptr<Linear> out_proj_;
};

class VitBlock : public torch::nn::Module {
 public:
  VitBlock()
      : ln_1_(add_layer<LayerNorm>(*this, "ln_1", kWidth, kEps)),
        attention_(add_layer<VitAttention>(*this, "self_attention")),
        ln_2_(add_layer<LayerNorm>(*this, "ln_2", kWidth, kEps)) {
    const auto mlp = add_layer<torch::nn::Module>(*this, "mlp");
    up_ = add_layer<Linear>(*mlp, "0", kWidth, kHidden);
    down_ = add_layer<Linear>(*mlp, "3", kHidden, kWidth);
  }
  at::Tensor forward(const at::Tensor& x) const {
    const auto y = x + attention_->forward(ln_1_->forward(x));
    return y + down_->forward(at::gelu(up_->forward(ln_2_->forward(y))));
  }

 private:
  std::shared_ptr<LayerNorm> ln_1_;
  std::shared_ptr<VitAttention> attention_;
  std::shared_ptr<LayerNorm> ln_2_;
  std::shared_ptr<Linear> up_, down_;
};

class VitB16 : public Model {
 public:
  VitB16() : class_token_(register_parameter("class_token", at::empty({1, 1, kWidth}), false)) {
    conv_proj_ = add_layer<Conv2d>(*this, "conv_proj", ConvShape{3, kWidth, kPatch, kPatch, 0, true});
    const auto encoder = add_layer<torch::nn::Module>(*this, "encoder");
    positions_ = encoder->register_parameter("pos_embedding", at::empty({1, kTokens, kWidth}), false);
    const auto layers = add_layer<torch::nn::Module>(*encoder, "layers");
    for (std::int64_t i = 0; i < kLayers; ++i)
      blocks_.push_back(add_layer<VitBlock>(*layers, "encoder_layer_" + std::to_string(i)));
    ln_ = add_layer<LayerNorm>(*encoder, "ln", kWidth, kEps);
    head_ = add_layer<Linear>(*add_layer<torch::nn::Module>(*this, "heads"), "head", kWidth, 1000);
  }
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    auto x = conv_proj_->forward(inputs[0]).flatten(2).transpose(1, 2);
    x = at::cat({class_token_.expand_as(x.narrow(1, 0, 1)), x}, 1) + positions_;
    for (const auto& block : blocks_) x = block->forward(x);
    return head_->forward(ln_->forward(x).select(1, 0));
  }

 private:
  at::Tensor class_token_, positions_;
  std::shared_ptr<Conv2d> conv_proj_;
  std::vector<std::shared_ptr<VitBlock>> blocks_;
  std::shared_ptr<LayerNorm> ln_;
  std::shared_ptr<Linear> head_;
};

}  // namespace
}  // namespace vit

std::shared_ptr<Model> build_vit_b_16() {
  return std::make_shared<vit::VitB16>();
}

}  // namespace paceline::torch_plugin
