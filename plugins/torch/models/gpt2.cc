// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "torch/models/builders.h"
#include "torch/models/layers.h"

// GPT-2 with Hugging Face's GPT2Model names; the language-model head is the token embedding.
namespace paceline::torch_plugin {
namespace gpt2 {
namespace {

using Shape = TransformerShape;

constexpr double kDropout = 0.1;

class Attention : public torch::nn::Module {
 public:
  explicit Attention(const Shape& s)
      : heads_(s.heads),
        qkv_(add_layer<TransposedLinear>(*this, "c_attn", s.width, 3 * s.width)),
        projection_(add_layer<TransposedLinear>(*this, "c_proj", s.width, s.width)),
        attention_dropout_(add_layer<Dropout>(*this, "attn_dropout", kDropout)),
        dropout_(add_layer<Dropout>(*this, "resid_dropout", kDropout)) {}
  at::Tensor forward(const at::Tensor& x) const {
    const auto parts = qkv_->forward(x).chunk(3, 2);
    const auto y =
        at::scaled_dot_product_attention(split_heads(parts[0], heads_), split_heads(parts[1], heads_),
                                         split_heads(parts[2], heads_), {}, attention_dropout_->share(),
                                         /*is_causal=*/true);
    return dropout_->forward(projection_->forward(merge_heads(y)));
  }

 private:
  std::int64_t heads_;
  std::shared_ptr<TransposedLinear> qkv_, projection_;
  std::shared_ptr<Dropout> attention_dropout_, dropout_;
};

class Block : public torch::nn::Module {
 public:
  explicit Block(const Shape& s)
      : gelu_(s.tanh_gelu ? "tanh" : "none"),
        ln_1_(add_layer<LayerNorm>(*this, "ln_1", s.width, s.eps)),
        attention_(add_layer<Attention>(*this, "attn", s)),
        ln_2_(add_layer<LayerNorm>(*this, "ln_2", s.width, s.eps)) {
    const auto mlp = add_layer<torch::nn::Module>(*this, "mlp");
    up_ = add_layer<TransposedLinear>(*mlp, "c_fc", s.width, s.feed_forward);
    down_ = add_layer<TransposedLinear>(*mlp, "c_proj", s.feed_forward, s.width);
    dropout_ = add_layer<Dropout>(*mlp, "dropout", kDropout);
  }
  at::Tensor forward(const at::Tensor& x) const {
    const auto y = x + attention_->forward(ln_1_->forward(x));
    const auto hidden = at::gelu(up_->forward(ln_2_->forward(y)), gelu_);
    return y + dropout_->forward(down_->forward(hidden));
  }

 private:
  std::string gelu_;
  std::shared_ptr<LayerNorm> ln_1_;
  std::shared_ptr<Attention> attention_;
  std::shared_ptr<LayerNorm> ln_2_;
  std::shared_ptr<TransposedLinear> up_, down_;
  std::shared_ptr<Dropout> dropout_;
};

class Gpt2 : public Model {
 public:
  Gpt2(const Shape& s, bool scores)
      : scores_(scores),
        tokens_(add_layer<Embedding>(*this, "wte", s.vocabulary, s.width)),
        positions_(add_layer<Embedding>(*this, "wpe", s.positions, s.width)),
        dropout_(add_layer<Dropout>(*this, "drop", kDropout)) {
    const auto layers = add_layer<torch::nn::Module>(*this, "h");
    for (std::int64_t i = 0; i < s.layers; ++i)
      blocks_.push_back(add_layer<Block>(*layers, std::to_string(i), s));
    ln_ = add_layer<LayerNorm>(*this, "ln_f", s.width, s.eps);
  }
  // Hidden states [N, S, width], or scores of the vocabulary at every position.
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    auto x =
        dropout_->forward(tokens_->forward(inputs[0]) + positions_->weight().narrow(0, 0, inputs[0].size(1)));
    for (const auto& block : blocks_) x = block->forward(x);
    x = ln_->forward(x);
    return scores_ ? at::linear(x, tokens_->weight()) : x;
  }

 private:
  bool scores_;
  std::shared_ptr<Embedding> tokens_, positions_;
  std::shared_ptr<Dropout> dropout_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<LayerNorm> ln_;
};

}  // namespace
}  // namespace gpt2

std::shared_ptr<Model> build_gpt2(const TransformerShape& shape, TransformerHead head) {
  return std::make_shared<gpt2::Gpt2>(shape, head == TransformerHead::kTokenScores);
}

}  // namespace paceline::torch_plugin
