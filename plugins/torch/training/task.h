// SPDX-License-Identifier: MIT
// Target of a model's training: labels, next tokens or masked tokens.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/engine.h"
#include "torch/models/model.h"

namespace paceline::torch_plugin {

inline constexpr std::int64_t kNoTarget = -100;  // the answer there does not count, as in PyTorch

// One micro-batch as the loss takes it.
struct Example {
  std::vector<at::Tensor> inputs;
  at::Tensor targets;  // int64, the correct class at each place; kNoTarget: none
};

// The task a model is trained for. The loss is the cross-entropy of its answers, as a mean over the targets.
class Task {
 public:
  virtual ~Task() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Number of classes; labels, or tokens, are below it.
  [[nodiscard]] virtual std::int64_t classes() const = 0;
  // The tensors of a micro-batch.
  [[nodiscard]] virtual std::vector<TensorSpec> batch_specs(std::vector<TensorSpec> inputs) const = 0;
  // Takes tensors as batch_specs describes them. `draw` selects the random choices, where there are any.
  // Error(kData) names a label or token that the model does not have.
  [[nodiscard]] virtual Example prepare(std::vector<at::Tensor> tensors, std::uint64_t draw) const = 0;
  // The model's scores for every class at every place with a target.
  [[nodiscard]] virtual at::Tensor answers(const at::Tensor& output) const { return output; }
};

// `classes` replaces the model's own number; 0: as it is. Error(kUnsupported) for models that are not trained
// (single operators), and for another number of tokens.
std::unique_ptr<Task> task_of(const std::string& model, std::uint64_t seed, std::int64_t classes = 0);

}  // namespace paceline::torch_plugin
