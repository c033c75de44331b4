// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"

// Feeds a model's state back: an output of one inference becomes an input of the next.
namespace paceline::workload {

class Feedback {
 public:
  // `pairs` are OUTPUT:INPUT by the model's names, which may hold colons. `inputs` are those of the first
  // bind, `outputs` what they gave. Throws Error(kConfig) for a name that the model does not have, for an
  // input that is fed twice, and where output and input differ in shape or element type.
  Feedback(const std::vector<std::string>& pairs, std::span<const TensorView> inputs,
           std::span<const TensorView> outputs);
  [[nodiscard]] bool empty() const { return wires_.empty(); }
  // The inputs of the next inference: the fed ones hold `outputs`, all others stay as they were.
  [[nodiscard]] std::span<const TensorView> next(std::span<const TensorView> outputs);

 private:
  struct Wire {
    std::size_t output, input;
  };
  void add(const std::string& pair, std::span<const TensorView> outputs);

  std::vector<Wire> wires_;
  std::list<Tensor> states_;
  std::vector<TensorView> inputs_;
};

}  // namespace paceline::workload
