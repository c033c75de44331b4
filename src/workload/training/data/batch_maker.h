// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "workload/training/data/sampler.h"
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

// Makes any micro-batch of a rank: number u is micro-batch u % micro_batches of step u / micro_batches. The
// same number gives the same data, whichever thread makes it, in any order, several at once.
class BatchMaker {
 public:
  BatchMaker(std::unique_ptr<Source> source, BatchLayout layout, const Sampler& sampler,
             std::int64_t micro_batches, std::uint64_t seed);
  [[nodiscard]] std::int64_t micro_batches() const { return micro_batches_; }
  [[nodiscard]] std::vector<Tensor> make_buffers() const { return layout_.make_buffers(); }
  // Stops early, between two samples, when `cancelled`.
  void make(std::int64_t number, std::span<Tensor> buffers, const std::atomic<bool>& cancelled);
  // Samples per second of one thread's time; missing before the first.
  [[nodiscard]] std::optional<double> samples_per_s() const;

 private:
  std::unique_ptr<Source> source_;
  BatchLayout layout_;
  Sampler sampler_;
  std::int64_t micro_batches_;
  std::uint64_t seed_;
  std::atomic<std::int64_t> made_{0}, busy_ns_{0};
};

}  // namespace paceline::workload
