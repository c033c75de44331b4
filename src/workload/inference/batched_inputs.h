// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"

namespace paceline::workload {

// Reads stored samples of a model's inputs (input_layout.h) as batches in the model's layout.
class BatchedInputs {
 public:
  // The tensors stay the caller's and must live as long as this and its views.
  BatchedInputs(std::span<Tensor> stored, std::vector<std::int64_t> batch_dimensions, std::int64_t batch);
  // Keeps each tensor once: one that is brought into the model's layout gives up its stored form.
  BatchedInputs(std::vector<Tensor>&& stored, std::vector<std::int64_t> batch_dimensions, std::int64_t batch);
  // May be called from several threads.
  [[nodiscard]] std::vector<TensorView> views(std::int64_t index) const;
  // A hash of what one sample of a batch brings; inputs that are the same for all samples are left out.
  [[nodiscard]] std::uint64_t sample_hash(std::int64_t index, std::int64_t sample) const;

 private:
  std::vector<TensorView> all_;  // every batch of each input, one after the other
  std::vector<std::int64_t> dimensions_;
  std::int64_t batch_;
  std::vector<Tensor> tensors_;  // the caller's tensors only where their batch is not dimension 0
};

}  // namespace paceline::workload
