// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace paceline::torch_plugin {

// A model that is ready to run, of whatever kind. Runs in the caller's grad mode and on the caller's thread.
class Program {
 public:
  virtual ~Program() = default;
  virtual void run(std::span<const at::Tensor> inputs, std::vector<at::Tensor>& outputs) = 0;
  // Trainable values; 0 when they cannot be told from other constants (a frozen file).
  [[nodiscard]] virtual std::int64_t parameter_count() const = 0;
  // Weights by the model's names; empty where they are constants without names.
  [[nodiscard]] virtual std::vector<std::pair<std::string, at::Tensor>> weights() const { return {}; }
  // Effective settings in addition to those that every program has.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> settings() const = 0;

  // Whether LibTorch's dispatcher sees all convolutions and matrix products, so that their operations can be
  // counted.
  [[nodiscard]] virtual bool countable() const { return true; }

  // Feature of the model's file that may explain outputs that differ from those of elsewhere; empty: none.
  [[nodiscard]] virtual std::string arithmetic_note() const { return {}; }

  std::vector<std::string> output_names;  // by the keys of dictionaries, after a run; empty: they have none
  std::vector<std::string> left_out;      // tensors in the file of weights that the output does not need
};

}  // namespace paceline::torch_plugin
