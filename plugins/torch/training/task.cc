// SPDX-License-Identifier: MIT
#include "torch/training/task.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"

namespace paceline::torch_plugin {
namespace {

void check_classes(const at::Tensor& labels, std::int64_t classes, const std::string& what) {
  const auto* values = labels.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < labels.numel(); ++i)
    if (values[i] < 0 || values[i] >= classes)
      throw Error(ErrorCode::kData, fmt::format("{} {} at position {} of the batch is not one of the model's "
                                                "{} (0 to {}); does the data fit the model?",
                                                what, values[i], i, classes, classes - 1));
}

class Classification : public Task {
 public:
  explicit Classification(std::int64_t classes) : classes_(classes) {}
  std::string_view name() const override { return "classification"; }
  std::int64_t classes() const override { return classes_; }
  std::vector<TensorSpec> batch_specs(std::vector<TensorSpec> inputs) const override {
    inputs.push_back({"labels", DType::kInt64, {inputs[0].shape[0]}});
    return inputs;
  }
  Example prepare(std::vector<at::Tensor> tensors, std::uint64_t) const override {
    auto labels = tensors.back().contiguous();
    tensors.pop_back();
    check_classes(labels, classes_, "label");
    if (labels.size(0) != tensors[0].size(0))
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} labels for {} samples", labels.size(0), tensors[0].size(0)));
    return {std::move(tensors), std::move(labels)};
  }

 private:
  std::int64_t classes_;
};

// Predicts the next token at every position except the last.
class CausalLanguage : public Task {
 public:
  explicit CausalLanguage(std::int64_t vocabulary) : vocabulary_(vocabulary) {}
  std::string_view name() const override { return "causal language modelling"; }
  std::int64_t classes() const override { return vocabulary_; }
  std::vector<TensorSpec> batch_specs(std::vector<TensorSpec> inputs) const override {
    if (inputs[0].shape[1] < 2)
      throw Error(ErrorCode::kUsage,
                  "a sequence of one token has no next one to learn; use a length of 2 or more");
    return inputs;
  }
  Example prepare(std::vector<at::Tensor> tensors, std::uint64_t) const override {
    tensors[0] = tensors[0].contiguous();
    check_classes(tensors[0], vocabulary_, "token");
    auto next = tensors[0].narrow(1, 1, tensors[0].size(1) - 1).contiguous();
    return {std::move(tensors), std::move(next)};
  }
  at::Tensor answers(const at::Tensor& output) const override {
    return output.narrow(1, 0, output.size(1) - 1);
  }

 private:
  std::int64_t vocabulary_;
};

// Devlin et al. 2018: 15 % of the tokens are to be predicted; of these 80 % are replaced by [MASK], 10 % by
// any token, 10 % stay. [PAD], [CLS], [SEP] and what the attention mask hides are never chosen.
class MaskedLanguage : public Task {
 public:
  MaskedLanguage(std::int64_t vocabulary, std::uint64_t seed) : vocabulary_(vocabulary), seed_(seed) {}
  std::string_view name() const override { return "masked language modelling"; }
  std::int64_t classes() const override { return vocabulary_; }
  std::vector<TensorSpec> batch_specs(std::vector<TensorSpec> inputs) const override { return inputs; }
  Example prepare(std::vector<at::Tensor> tensors, std::uint64_t draw) const override {
    auto corrupted = tensors[0].contiguous().clone();
    check_classes(corrupted, vocabulary_, "token");
    auto targets = at::full_like(corrupted, kNoTarget);
    const auto seen = tensors[1].contiguous();
    hide(corrupted, targets, seen, CounterRng(seed_, draw));
    return {{std::move(corrupted), std::move(tensors[1])}, std::move(targets)};
  }

 private:
  static constexpr std::int64_t kPad = 0, kCls = 101, kSep = 102, kMask = 103;
  static bool is_special(std::int64_t token) { return token == kPad || token == kCls || token == kSep; }

  std::int64_t replacement(std::int64_t token, const CounterRng& rng, std::uint64_t index) const {
    const double kind = rng.uniform(3 * index + 1);
    if (kind < 0.8) return kMask;
    if (kind < 0.9)
      return static_cast<std::int64_t>(rng.below(3 * index + 2, static_cast<std::uint64_t>(vocabulary_)));
    return token;
  }
  // Where chance chose no token of a batch, its first one is chosen, because a mean over none is not a loss.
  void hide(at::Tensor& tokens, at::Tensor& targets, const at::Tensor& seen, const CounterRng& rng) const {
    auto* token = tokens.mutable_data_ptr<std::int64_t>();
    auto* target = targets.mutable_data_ptr<std::int64_t>();
    const auto* visible = seen.const_data_ptr<std::int64_t>();
    std::int64_t first = -1, chosen = 0;
    const auto choose = [&](std::int64_t i) {
      target[i] = token[i];
      token[i] = replacement(token[i], rng, static_cast<std::uint64_t>(i));
      ++chosen;
    };
    for (std::int64_t i = 0; i < tokens.numel(); ++i) {
      if (visible[i] == 0 || is_special(token[i])) continue;
      if (first < 0) first = i;
      if (rng.uniform(3 * static_cast<std::uint64_t>(i)) < 0.15) choose(i);
    }
    if (first < 0)
      throw Error(ErrorCode::kData, "no token of the batch can be masked: all are padding or special");
    if (chosen == 0) choose(first);
  }

  std::int64_t vocabulary_;
  std::uint64_t seed_;
};

enum class Kind { kClassification, kCausalLanguage, kMaskedLanguage };
struct TaskRow {
  std::string_view model;
  Kind kind;
  std::int64_t classes;
};
constexpr TaskRow kTasks[] = {
    {"resnet50", Kind::kClassification, 1000}, {"vit_b_16", Kind::kClassification, 1000},
    {"tiny_cnn", Kind::kClassification, 10},   {"bert-large", Kind::kMaskedLanguage, 30522},
    {"gpt2", Kind::kCausalLanguage, 50257},
};

std::unique_ptr<Task> make_task(TaskRow row, std::uint64_t seed, std::int64_t classes) {
  if (classes > 0 && row.kind != Kind::kClassification)
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("model '{}' predicts tokens; another number of classes is for image models", row.model));
  if (classes > 0) row.classes = classes;
  if (row.kind == Kind::kCausalLanguage) return std::make_unique<CausalLanguage>(row.classes);
  if (row.kind == Kind::kMaskedLanguage) return std::make_unique<MaskedLanguage>(row.classes, seed);
  return std::make_unique<Classification>(row.classes);
}

}  // namespace

std::unique_ptr<Task> task_of(const std::string& model, std::uint64_t seed, std::int64_t classes) {
  std::string names;
  for (const auto& row : kTasks) {
    if (row.model == model) return make_task(row, seed, classes);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.model);
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("model '{}' cannot be trained; models that can: {}", model, names));
}

}  // namespace paceline::torch_plugin
