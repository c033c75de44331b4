// SPDX-License-Identifier: MIT
#include "workload/inference/batch_input.h"

#include <cstring>

namespace paceline::workload {

BatchInput::BatchInput(Inputs& source, std::int64_t batches, std::int64_t max_requests) {
  for (std::int64_t i = 0; i < max_requests; ++i) requests_.push_back(source.batch(i % batches));
  if (max_requests == 1) return;
  for (const auto& view : requests_.front()) {
    Shape shape = view.shape;
    shape.at(0) *= max_requests;
    together_.emplace_back(TensorSpec{view.name, view.dtype, std::move(shape)});
  }
  for (std::int64_t n = 1; n <= max_requests; ++n) {
    auto& views = views_.emplace_back();
    for (auto& tensor : together_) {
      views.push_back(tensor.view());
      views.back().shape.at(0) = views.back().shape.at(0) / max_requests * n;
    }
  }
  gather(max_requests, true);
}

std::span<const TensorView> BatchInput::gather(std::int64_t requests, bool filled_up) {
  if (together_.empty()) return requests_.front();
  for (std::size_t i = 0; i < together_.size(); ++i) {
    const auto bytes = requests_.front()[i].size_bytes();
    for (std::size_t r = 0; r < static_cast<std::size_t>(requests); ++r)
      std::memcpy(together_[i].data() + r * bytes, requests_[r][i].data, bytes);
  }
  return filled_up ? views_.back() : views_[static_cast<std::size_t>(requests) - 1];
}

}  // namespace paceline::workload
