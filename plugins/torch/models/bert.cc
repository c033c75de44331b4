// SPDX-License-Identifier: MIT
#include <vector>

#include "torch/models/builders.h"
#include "torch/models/layers.h"

// BERT with Hugging Face's names.
namespace paceline::torch_plugin {
namespace bert {
namespace {

using Shape = TransformerShape;

constexpr double kDropout = 0.1;

at::Tensor gelu(const at::Tensor& x, const Shape& shape) {
  return at::gelu(x, shape.tanh_gelu ? "tanh" : "none");
}

class Embeddings : public torch::nn::Module {
 public:
  explicit Embeddings(const Shape& s)
      : words_(add_layer<Embedding>(*this, "word_embeddings", s.vocabulary, s.width)),
        positions_(add_layer<Embedding>(*this, "position_embeddings", s.positions, s.width)),
        types_(add_layer<Embedding>(*this, "token_type_embeddings", s.token_types, s.width)),
        norm_(add_layer<LayerNorm>(*this, "LayerNorm", s.width, s.eps)),
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
  explicit Layer(const Shape& s) : shape_(s) {
    const auto attention = add_layer<torch::nn::Module>(*this, "attention");
    const auto self = add_layer<torch::nn::Module>(*attention, "self");
    query_ = add_layer<Linear>(*self, "query", s.width, s.width);
    key_ = add_layer<Linear>(*self, "key", s.width, s.width);
    value_ = add_layer<Linear>(*self, "value", s.width, s.width);
    attention_dropout_ = add_layer<Dropout>(*self, "dropout", kDropout);
    const auto mixed = add_layer<torch::nn::Module>(*attention, "output");
    mix_ = add_layer<Linear>(*mixed, "dense", s.width, s.width);
    mix_norm_ = add_layer<LayerNorm>(*mixed, "LayerNorm", s.width, s.eps);
    mix_dropout_ = add_layer<Dropout>(*mixed, "dropout", kDropout);
    up_ = add_layer<Linear>(*add_layer<torch::nn::Module>(*this, "intermediate"), "dense", s.width,
                            s.feed_forward);
    const auto output = add_layer<torch::nn::Module>(*this, "output");
    down_ = add_layer<Linear>(*output, "dense", s.feed_forward, s.width);
    down_norm_ = add_layer<LayerNorm>(*output, "LayerNorm", s.width, s.eps);
    down_dropout_ = add_layer<Dropout>(*output, "dropout", kDropout);
  }
  at::Tensor forward(const at::Tensor& x, const at::Tensor& mask) const {
    const auto attended = at::scaled_dot_product_attention(
        split_heads(query_->forward(x), shape_.heads), split_heads(key_->forward(x), shape_.heads),
        split_heads(value_->forward(x), shape_.heads), mask, attention_dropout_->share());
    const auto y = mix_norm_->forward(mix_dropout_->forward(mix_->forward(merge_heads(attended))) + x);
    return down_norm_->forward(down_dropout_->forward(down_->forward(gelu(up_->forward(y), shape_))) + y);
  }

 private:
  Shape shape_;
  std::shared_ptr<Linear> query_, key_, value_, mix_, up_, down_;
  std::shared_ptr<LayerNorm> mix_norm_, down_norm_;
  std::shared_ptr<Dropout> attention_dropout_, mix_dropout_, down_dropout_;
};

// The layers that all heads share.
class BertLayers : public Model {
 protected:
  explicit BertLayers(const Shape& s) : embeddings_(add_layer<Embeddings>(*this, "embeddings", s)) {
    const auto layers =
        add_layer<torch::nn::Module>(*add_layer<torch::nn::Module>(*this, "encoder"), "layer");
    for (std::int64_t i = 0; i < s.layers; ++i)
      layers_.push_back(add_layer<Layer>(*layers, std::to_string(i), s));
  }
  // Ids and attention mask -> [N, S, width].
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

// BertModel's last_hidden_state, [N, S, width].
class BertHidden : public BertLayers {
 public:
  explicit BertHidden(const Shape& s) : BertLayers(s) {}
  at::Tensor run(std::span<const at::Tensor> inputs) override { return hidden_states(inputs); }
};

class BertPooled : public BertLayers {
 public:
  explicit BertPooled(const Shape& s) : BertLayers(s) {
    pooler_ = add_layer<Linear>(*add_layer<torch::nn::Module>(*this, "pooler"), "dense", s.width, s.width);
  }
  // The output is BertModel's pooler_output, [N, width]: tanh of a linear layer on the first token.
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    return at::tanh(pooler_->forward(hidden_states(inputs).select(1, 0)));
  }

 private:
  std::shared_ptr<Linear> pooler_;
};

// BertForSequenceClassification: scores of the labels, [N, labels].
class BertClasses : public BertPooled {
 public:
  explicit BertClasses(const Shape& s)
      : BertPooled(s), classifier_(add_layer<Linear>(*this, "classifier", s.width, s.labels)) {}
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    return classifier_->forward(BertPooled::run(inputs));
  }

 private:
  std::shared_ptr<Linear> classifier_;
};

// BertForTokenClassification: scores of the labels at every position, [N, S, labels].
class BertTokenClasses : public BertLayers {
 public:
  explicit BertTokenClasses(const Shape& s)
      : BertLayers(s), classifier_(add_layer<Linear>(*this, "classifier", s.width, s.labels)) {}
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    return classifier_->forward(hidden_states(inputs));
  }

 private:
  std::shared_ptr<Linear> classifier_;
};

// BertForMaskedLM: without a pooler; the weights of the scores are those of the word embeddings.
class BertMaskedLm : public BertLayers {
 public:
  explicit BertMaskedLm(const Shape& s) : BertLayers(s), shape_(s) {
    const auto head =
        add_layer<torch::nn::Module>(*add_layer<torch::nn::Module>(*this, "cls"), "predictions");
    const auto transform = add_layer<torch::nn::Module>(*head, "transform");
    dense_ = add_layer<Linear>(*transform, "dense", s.width, s.width);
    norm_ = add_layer<LayerNorm>(*transform, "LayerNorm", s.width, s.eps);
    bias_ = head->register_parameter("bias", at::empty({s.vocabulary}), /*requires_grad=*/false);
  }
  // Scores of every token at every position, [N, S, vocabulary].
  at::Tensor run(std::span<const at::Tensor> inputs) override {
    const auto x = norm_->forward(gelu(dense_->forward(hidden_states(inputs)), shape_));
    return at::linear(x, words(), bias_);
  }

 private:
  Shape shape_;
  std::shared_ptr<Linear> dense_;
  std::shared_ptr<LayerNorm> norm_;
  at::Tensor bias_;
};

}  // namespace
}  // namespace bert

std::shared_ptr<Model> build_bert(const TransformerShape& shape, TransformerHead head) {
  switch (head) {
    case TransformerHead::kPooled:
      return std::make_shared<bert::BertPooled>(shape);
    case TransformerHead::kTokenScores:
      return std::make_shared<bert::BertMaskedLm>(shape);
    case TransformerHead::kClasses:
      return std::make_shared<bert::BertClasses>(shape);
    case TransformerHead::kTokenClasses:
      return std::make_shared<bert::BertTokenClasses>(shape);
    case TransformerHead::kNone:
      break;
  }
  return std::make_shared<bert::BertHidden>(shape);
}

}  // namespace paceline::torch_plugin
