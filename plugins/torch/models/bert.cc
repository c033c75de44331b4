// SPDX-License-Identifier: MIT
#include <vector>

#include "torch/models/builders.h"
#include "torch/models/layers.h"

// BERT-large (uncased) with Hugging Face's BertModel names.
namespace paceline::torch_plugin {
namespace bert {
namespace {

constexpr std::int64_t kWidth = 1024, kHeads = 16, kHidden = 4096, kLayers = 24, kVocabulary = 30522,
                       kPositions = 512;
constexpr double kEps = 1e-12, kDropout = 0.1;

class Embeddings : public torch::nn::Module {
 public:
  Embeddings()
      : words_(add_layer<Embedding>(*this, "word_embeddings", kVocabulary, kWidth)),
        positions_(add_layer<Embedding>(*this, "position_embeddings", kPositions, kWidth)),
        types_(add_layer<Embedding>(*this, "token_type_embeddings", 2, kWidth)),
        norm_(add_layer<LayerNorm>(*this, "LayerNorm", kWidth, kEps)),
        dropout_(add_layer<Dropout>(*this, "dropout", kDropout)) {}
  // Positions count from 0 and every token is of type 0, as in BertModel's defaults.
  at::Tensor forward(const at::Tensor& ids) const {
    const auto fixed = positions_->weight().narrow(0, 0, ids.size(1)) + types_->weight().select(0, 0);
    return dropout_->forward(norm_->forward(words_->forward(ids) + fixed));
  }
  const at::Tensor& words() const { return words_->weight(); }

 private:
  std::shared_ptr<Embedding> words_, positions_, types_;
  std::shared_ptr<LayerNorm> norm_;
  std::shared_ptr<Dropout> dropout_;
};

class Layer : public torch::nn::Module {
 public:
  Layer() {
    const auto attention = add_layer<torch::nn::Module>(*this, "attention");
    const auto self = add_layer<torch::nn::Module>(*attention, "self");
    query_ = add_layer<Linear>(*self, "query", kWidth, kWidth);
    key_ = add_layer<Linear>(*self, "key", kWidth, kWidth);
    value_ = add_layer<Linear>(*self, "value", kWidth, kWidth);
    attention_dropout_ = add_layer<Dropout>(*self, "dropout", kDropout);
    const auto mixed = add_layer<torch::nn::Module>(*attention, "output");
    mix_ = add_layer<Linear>(*mixed, "dense", kWidth, kWidth);
    mix_norm_ = add_layer<LayerNorm>(*mixed, "LayerNorm", kWidth, kEps);
    mix_dropout_ = add_layer<Dropout>(*mixed, "dropout", kDropout);
    up_ = add_layer<Linear>(*add_layer<torch::nn::Module>(*this, "intermediate"), "dense", kWidth, kHidden);
    const auto output = add_layer<torch::nn::Module>(*this, "output");
    down_ = add_layer<Linear>(*output, "dense", kHidden, kWidth);
    down_norm_ = add_layer<LayerNorm>(*output, "LayerNorm", kWidth, kEps);
    down_dropout_ = add_layer<Dropout>(*output, "dropout", kDropout);
  }
  at::Tensor forward(const at::Tensor& x, const at::Tensor& mask) const {
    const auto attended = at::scaled_dot_product_attention(
        split_heads(query_->forward(x), kHeads), split_heads(key_->forward(x), kHeads),
        split_heads(value_->forward(x), kHeads), mask, attention_dropout_->share());
    const auto y = mix_norm_->forward(mix_dropout_->forward(mix_->forward(merge_heads(attended))) + x);
    return down_norm_->forward(down_dropout_->forward(down_->forward(at::gelu(up_->forward(y)))) + y);
  }

 private:
  std::shared_ptr<Linear> query_, key_, value_, mix_, up_, down_;
  std::shared_ptr<LayerNorm> mix_norm_, down_norm_;
  std::shared_ptr<Dropout> attention_dropout_, mix_dropout_, down_dropout_;
};

// The layers that all heads share.
class BertLayers : public Model {
 protected:
  BertLayers() : embeddings_(add_layer<Embeddings>(*this, "embeddings")) {
    const auto layers =
        add_layer<torch::nn::Module>(*add_layer<torch::nn::Module>(*this, "encoder"), "layer");
    for (std::int64_t i = 0; i < kLayers; ++i)
      layers_.push_back(add_layer<Layer>(*layers, std::to_string(i)));
  }
  // Ids and attention mask -> [N, S, 1024].
  at::Tensor hidden_states(std::span<const at::Tensor> inputs) const {
    auto x = embeddings_->forward(inputs[0]);
    const auto mask = additive_mask(inputs[1], x);
    for (const auto& layer : layers_) x = layer->forward(x, mask);
    return x;
  }
  const at::Tensor& words() const { return embeddings_->words(); }

 private:
  // [N, S] of 1 (keep) and 0 (hide) -> [N, 1, 1, S] of 0 and a very negative number, in the type of `like`.
  static at::Tensor additive_mask(const at::Tensor& keep, const at::Tensor& like) {
    const auto hidden = keep.eq(0).to(like.scalar_type()).unsqueeze(1).unsqueeze(1);
    return hidden * kHiddenScore;
  }
  static constexpr double kHiddenScore = -1e4;  // representable in float16; exp() of it is 0

  std::shared_ptr<Embeddings> embeddings_;
  std::vector<std::shared_ptr<Layer>> layers_;
};

class BertLarge : public BertLayers {
 public:
  BertLarge() {
    pooler_ = add_layer<Linear>(*add_layer<torch::nn::Module>(*this, "pooler"), "dense", kWidth, kWidth);
  }
  // The output is BertModel's pooler_output, [N, 1024]: tanh of a linear layer on the first token.
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    return at::tanh(pooler_->forward(hidden_states(inputs).select(1, 0)));
  }

 private:
  std::shared_ptr<Linear> pooler_;
};

// Hugging Face's BertForMaskedLM: no pooler; the scores' weights are those of the word embeddings.
class BertMaskedLm : public BertLayers {
 public:
  BertMaskedLm() {
    const auto head =
        add_layer<torch::nn::Module>(*add_layer<torch::nn::Module>(*this, "cls"), "predictions");
    const auto transform = add_layer<torch::nn::Module>(*head, "transform");
    dense_ = add_layer<Linear>(*transform, "dense", kWidth, kWidth);
    norm_ = add_layer<LayerNorm>(*transform, "LayerNorm", kWidth, kEps);
    bias_ = head->register_parameter("bias", at::empty({kVocabulary}), /*requires_grad=*/false);
  }
  // Scores of every token at every position, [N, S, 30522].
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    const auto x = norm_->forward(at::gelu(dense_->forward(hidden_states(inputs))));
    return at::linear(x, words(), bias_);
  }

 private:
  std::shared_ptr<Linear> dense_;
  std::shared_ptr<LayerNorm> norm_;
  at::Tensor bias_;
};

}  // namespace
}  // namespace bert

std::shared_ptr<Model> build_bert_large() {
  return std::make_shared<bert::BertLarge>();
}
std::shared_ptr<Model> build_bert_large_masked_lm() {
  return std::make_shared<bert::BertMaskedLm>();
}

}  // namespace paceline::torch_plugin
