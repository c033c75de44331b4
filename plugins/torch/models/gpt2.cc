// SPDX-License-Identifier: MIT
#include <vector>

#include "torch/models/builders.h"
#include "torch/models/layers.h"

// GPT-2 (124M) with Hugging Face's GPT2Model names; the language-model head is the token embedding.
namespace paceline::torch_plugin {
namespace gpt2 {
namespace {

constexpr std::int64_t kWidth = 768, kHeads = 12, kLayers = 12, kVocabulary = 50257, kPositions = 1024;
constexpr double kEps = 1e-5, kDropout = 0.1;

class Attention : public torch::nn::Module {
 public:
  Attention()
      : qkv_(add_layer<TransposedLinear>(*this, "c_attn", kWidth, 3 * kWidth)),
        projection_(add_layer<TransposedLinear>(*this, "c_proj", kWidth, kWidth)),
        attention_dropout_(add_layer<Dropout>(*this, "attn_dropout", kDropout)),
        dropout_(add_layer<Dropout>(*this, "resid_dropout", kDropout)) {}
  at::Tensor forward(const at::Tensor& x) const {
    const auto parts = qkv_->forward(x).chunk(3, 2);
    const auto y =
        at::scaled_dot_product_attention(split_heads(parts[0], kHeads), split_heads(parts[1], kHeads),
                                         split_heads(parts[2], kHeads), {}, attention_dropout_->share(),
                                         /*is_causal=*/true);
    return dropout_->forward(projection_->forward(merge_heads(y)));
  }

 private:
  std::shared_ptr<TransposedLinear> qkv_, projection_;
  std::shared_ptr<Dropout> attention_dropout_, dropout_;
};

class Block : public torch::nn::Module {
 public:
  Block()
      : ln_1_(add_layer<LayerNorm>(*this, "ln_1", kWidth, kEps)),
        attention_(add_layer<Attention>(*this, "attn")),
        ln_2_(add_layer<LayerNorm>(*this, "ln_2", kWidth, kEps)) {
    const auto mlp = add_layer<torch::nn::Module>(*this, "mlp");
    up_ = add_layer<TransposedLinear>(*mlp, "c_fc", kWidth, 4 * kWidth);
    down_ = add_layer<TransposedLinear>(*mlp, "c_proj", 4 * kWidth, kWidth);
    dropout_ = add_layer<Dropout>(*mlp, "dropout", kDropout);
  }
  at::Tensor forward(const at::Tensor& x) const {
    const auto y = x + attention_->forward(ln_1_->forward(x));
    const auto hidden = at::gelu(up_->forward(ln_2_->forward(y)), "tanh");
    return y + dropout_->forward(down_->forward(hidden));
  }

 private:
  std::shared_ptr<LayerNorm> ln_1_;
  std::shared_ptr<Attention> attention_;
  std::shared_ptr<LayerNorm> ln_2_;
  std::shared_ptr<TransposedLinear> up_, down_;
  std::shared_ptr<Dropout> dropout_;
};

class Gpt2 : public Model {
 public:
  Gpt2()
      : tokens_(add_layer<Embedding>(*this, "wte", kVocabulary, kWidth)),
        positions_(add_layer<Embedding>(*this, "wpe", kPositions, kWidth)),
        dropout_(add_layer<Dropout>(*this, "drop", kDropout)) {
    const auto layers = add_layer<torch::nn::Module>(*this, "h");
    for (std::int64_t i = 0; i < kLayers; ++i)
      blocks_.push_back(add_layer<Block>(*layers, std::to_string(i)));
    ln_ = add_layer<LayerNorm>(*this, "ln_f", kWidth, kEps);
  }
  // Logits of every position, [N, S, 50257].
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    auto x =
        dropout_->forward(tokens_->forward(inputs[0]) + positions_->weight().narrow(0, 0, inputs[0].size(1)));
    for (const auto& block : blocks_) x = block->forward(x);
    return at::linear(ln_->forward(x), tokens_->weight());
  }

 private:
  std::shared_ptr<Embedding> tokens_, positions_;
  std::shared_ptr<Dropout> dropout_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<LayerNorm> ln_;
};

}  // namespace
}  // namespace gpt2

std::shared_ptr<Model> build_gpt2() {
  return std::make_shared<gpt2::Gpt2>();
}

}  // namespace paceline::torch_plugin
