// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "workload/training/data/source.h"

namespace paceline::workload {

// Which of a trainer's tensors is what: the image is float32 [N, C, H, W], token ids are int64 [N, S] named
// input_ids, labels are int64 [N]. Everything else is a mask: ones.
class BatchLayout {
 public:
  // Throws Error(kConfig) when there is neither image nor token ids, or batches differ.
  explicit BatchLayout(std::vector<TensorSpec> specs);
  [[nodiscard]] std::int64_t batch() const;
  [[nodiscard]] SampleShape sample_shape() const;
  [[nodiscard]] std::vector<Tensor> make_buffers() const;  // with the masks filled in
  [[nodiscard]] SampleMemory sample(std::span<Tensor> buffers, std::int64_t row) const;

 private:
  std::vector<TensorSpec> specs_;
  std::optional<std::size_t> image_, tokens_, label_;  // indices into specs_
};

}  // namespace paceline::workload
