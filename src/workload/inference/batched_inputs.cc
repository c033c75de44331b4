// SPDX-License-Identifier: MIT
#include "workload/inference/batched_inputs.h"

#include "base/random.h"
#include "pass/input_layout.h"

namespace paceline::workload {

BatchedInputs::BatchedInputs(std::span<Tensor> stored, std::vector<std::int64_t> batch_dimensions,
                             std::int64_t batch)
    : dimensions_(std::move(batch_dimensions)), batch_(batch) {
  dimensions_.resize(stored.size(), 0);
  tensors_.reserve(stored.size());  // views point into them
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const bool convert = dimensions_[i] > 0;
    if (convert) tensors_.push_back(pass::to_batches(stored[i], dimensions_[i], batch));
    all_.push_back((convert ? tensors_.back() : stored[i]).view());
  }
}

BatchedInputs::BatchedInputs(std::vector<Tensor>&& stored, std::vector<std::int64_t> batch_dimensions,
                             std::int64_t batch)
    : dimensions_(std::move(batch_dimensions)), batch_(batch), tensors_(std::move(stored)) {
  dimensions_.resize(tensors_.size(), 0);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (dimensions_[i] > 0) tensors_[i] = pass::to_batches(tensors_[i], dimensions_[i], batch);
    all_.push_back(tensors_[i].view());
  }
}

std::vector<TensorView> BatchedInputs::views(std::int64_t index) const {
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    TensorView view = all_[i];
    if (dimensions_[i] == 0)
      view.shape.front() = batch_;
    else
      view.shape.erase(view.shape.begin());
    if (dimensions_[i] != pass::kNoBatch)
      view.data = static_cast<std::byte*>(view.data) + static_cast<std::size_t>(index) * view.size_bytes();
    views.push_back(std::move(view));
  }
  return views;
}

std::uint64_t BatchedInputs::sample_hash(std::int64_t index, std::int64_t sample) const {
  const auto batch = views(index);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (dimensions_[i] == pass::kNoBatch) continue;
    const auto& shape = batch[i].shape;
    const auto outer = static_cast<std::size_t>(element_count(
        Shape(shape.begin(), shape.begin() + dimensions_[i])));  // copies of the batch dimension
    const auto stride = batch[i].size_bytes() / outer, bytes = stride / static_cast<std::size_t>(batch_);
    const auto* data = static_cast<const char*>(batch[i].data) + static_cast<std::size_t>(sample) * bytes;
    for (std::size_t o = 0; o < outer; ++o) hash = mix64(hash ^ hash64({data + o * stride, bytes}));
  }
  return hash;
}

}  // namespace paceline::workload
