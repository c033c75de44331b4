// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "torch/models/builders.h"
#include "torch/models/layers.h"

// Vision Transformer: torchvision's architecture and names.
namespace paceline::torch_plugin {
namespace vit {
namespace {

using Shape = TransformerShape;

class VitAttention : public torch::nn::Module {
 public:
  explicit VitAttention(const Shape& s)
      : heads_(s.heads),
        weight_(register_parameter("in_proj_weight", at::empty({3 * s.width, s.width}), false)),
        bias_(register_parameter("in_proj_bias", at::empty({3 * s.width}), false)),
        out_proj_(add_layer<Linear>(*this, "out_proj", s.width, s.width)) {}
  at::Tensor forward(const at::Tensor& x) const {
    const auto parts = at::linear(x, weight_, bias_).chunk(3, 2);
    const auto y = at::scaled_dot_product_attention(
        split_heads(parts[0], heads_), split_heads(parts[1], heads_), split_heads(parts[2], heads_));
    return out_proj_->forward(merge_heads(y));
  }

 private:
  std::int64_t heads_;
  at::Tensor weight_, bias_;
  std::shared_ptr<Linear> out_proj_;
};

class VitBlock : public torch::nn::Module {
 public:
  explicit VitBlock(const Shape& s)
      : gelu_(s.tanh_gelu ? "tanh" : "none"),
        ln_1_(add_layer<LayerNorm>(*this, "ln_1", s.width, s.eps)),
        attention_(add_layer<VitAttention>(*this, "self_attention", s)),
        ln_2_(add_layer<LayerNorm>(*this, "ln_2", s.width, s.eps)) {
    const auto mlp = add_layer<torch::nn::Module>(*this, "mlp");
    up_ = add_layer<Linear>(*mlp, "0", s.width, s.feed_forward);
    down_ = add_layer<Linear>(*mlp, "3", s.feed_forward, s.width);
  }
  at::Tensor forward(const at::Tensor& x) const {
    const auto y = x + attention_->forward(ln_1_->forward(x));
    return y + down_->forward(at::gelu(up_->forward(ln_2_->forward(y)), gelu_));
  }

 private:
  std::string gelu_;
  std::shared_ptr<LayerNorm> ln_1_;
  std::shared_ptr<VitAttention> attention_;
  std::shared_ptr<LayerNorm> ln_2_;
  std::shared_ptr<Linear> up_, down_;
};

class Vit : public Model {
 public:
  Vit(const Shape& s, bool classifies)
      : class_token_(register_parameter("class_token", at::empty({1, 1, s.width}), false)) {
    conv_proj_ =
        add_layer<Conv2d>(*this, "conv_proj", ConvShape{s.channels, s.width, s.patch, s.patch, 0, true});
    const auto encoder = add_layer<torch::nn::Module>(*this, "encoder");
    const auto tokens = (s.image / s.patch) * (s.image / s.patch) + 1;
    positions_ = encoder->register_parameter("pos_embedding", at::empty({1, tokens, s.width}), false);
    const auto layers = add_layer<torch::nn::Module>(*encoder, "layers");
    for (std::int64_t i = 0; i < s.layers; ++i)
      blocks_.push_back(add_layer<VitBlock>(*layers, "encoder_layer_" + std::to_string(i), s));
    ln_ = add_layer<LayerNorm>(*encoder, "ln", s.width, s.eps);
    if (!classifies) return;
    head_ = add_layer<Linear>(*add_layer<torch::nn::Module>(*this, "heads"), "head", s.width, s.labels);
  }
  // Scores of the labels, [N, labels]; without a head the hidden states, [N, patches + 1, width].
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    auto x = conv_proj_->forward(inputs[0]).flatten(2).transpose(1, 2);
    x = at::cat({class_token_.expand_as(x.narrow(1, 0, 1)), x}, 1) + positions_;
    for (const auto& block : blocks_) x = block->forward(x);
    x = ln_->forward(x);
    return head_ ? head_->forward(x.select(1, 0)) : x;
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

std::shared_ptr<Model> build_vit(const TransformerShape& shape, TransformerHead head) {
  return std::make_shared<vit::Vit>(shape, head == TransformerHead::kClasses);
}

}  // namespace paceline::torch_plugin
