// SPDX-License-Identifier: MIT
#include "pass/input_layout.h"

#include <fmt/format.h>

#include <cstring>

namespace paceline::pass {
namespace {

// Copies [outer][samples][inner] to [samples][outer][inner], all in bytes of `inner`.
void samples_to_front(const std::byte* from, std::byte* to, std::size_t outer, std::size_t samples,
                      std::size_t inner) {
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t s = 0; s < samples; ++s)
      std::memcpy(to + (s * outer + o) * inner, from + (o * samples + s) * inner, inner);
}

struct Extents {
  std::size_t outer = 1, samples = 1, inner = 1;  // inner in bytes
};

Extents extents_of(const TensorSpec& spec, std::size_t dimension) {
  Extents e;
  for (std::size_t i = 0; i < dimension; ++i) e.outer *= static_cast<std::size_t>(spec.shape[i]);
  e.samples = static_cast<std::size_t>(spec.shape[dimension]);
  e.inner = dtype_size_bytes(spec.dtype);
  for (std::size_t i = dimension + 1; i < spec.shape.size(); ++i)
    e.inner *= static_cast<std::size_t>(spec.shape[i]);
  return e;
}

}  // namespace

std::vector<std::string> input_file_names(const std::string& prefix, std::size_t count) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < count; ++i) files.push_back(fmt::format("{}-{}.npy", prefix, i));
  return files;
}

std::int64_t batch_dimension_of(std::span<const std::int64_t> dimensions, std::size_t i) {
  return i < dimensions.size() ? dimensions[i] : 0;
}

void multiply_batch(std::vector<TensorSpec>& inputs, std::span<const std::int64_t> dimensions,
                    std::int64_t factor) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto dimension = batch_dimension_of(dimensions, i); dimension != kNoBatch)
      inputs[i].shape.at(static_cast<std::size_t>(dimension)) *= factor;
}

Shape stored_shape(const Shape& shape, std::int64_t batch_dimension, std::int64_t samples) {
  Shape stored = shape;
  if (batch_dimension >= 0) stored.erase(stored.begin() + batch_dimension);
  stored.insert(stored.begin(), batch_dimension >= 0 ? samples : 1);
  return stored;
}

Shape model_shape(const Shape& stored, std::int64_t batch_dimension, std::int64_t samples) {
  Shape shape(stored.begin() + 1, stored.end());
  if (batch_dimension != kNoBatch) shape.insert(shape.begin() + batch_dimension, samples);
  return shape;
}

Tensor to_stored(Tensor tensor, std::int64_t batch_dimension) {
  const auto& spec = tensor.spec();
  if (batch_dimension == 0) return tensor;
  const auto at = static_cast<std::size_t>(batch_dimension);
  const std::int64_t samples = batch_dimension < 0 ? 1 : spec.shape.at(at);
  Tensor stored({spec.name, spec.dtype, stored_shape(spec.shape, batch_dimension, samples)});
  if (batch_dimension < 0) {
    std::memcpy(stored.data(), tensor.data(), tensor.size_bytes());
    return stored;
  }
  const auto e = extents_of(spec, at);
  samples_to_front(tensor.data(), stored.data(), e.outer, e.samples, e.inner);
  return stored;
}

Tensor to_model(const Tensor& stored, std::int64_t batch_dimension) {
  const auto& spec = stored.spec();
  Tensor tensor({spec.name, spec.dtype, model_shape(spec.shape, batch_dimension, spec.shape.at(0))});
  if (batch_dimension <= 0) {
    std::memcpy(tensor.data(), stored.data(), stored.size_bytes());
    return tensor;
  }
  const auto e = extents_of(tensor.spec(), static_cast<std::size_t>(batch_dimension));
  samples_to_front(stored.data(), tensor.data(), e.samples, e.outer, e.inner);
  return tensor;
}

Tensor to_batches(const Tensor& stored, std::int64_t batch_dimension, std::int64_t batch) {
  const auto& spec = stored.spec();
  const std::int64_t batches = spec.shape.at(0) / batch;
  Shape shape(spec.shape.begin() + 1, spec.shape.end());
  shape.insert(shape.begin() + batch_dimension, batch);
  auto all = shape;
  all.insert(all.begin(), batches);
  Tensor made({spec.name, spec.dtype, all});
  const auto e = extents_of({spec.name, spec.dtype, shape}, static_cast<std::size_t>(batch_dimension));
  const std::size_t bytes = e.outer * e.samples * e.inner;
  for (std::size_t b = 0; b < static_cast<std::size_t>(batches); ++b)  // the inverse: outer and samples swap
    samples_to_front(stored.data() + b * bytes, made.data() + b * bytes, e.samples, e.outer, e.inner);
  return made;
}

}  // namespace paceline::pass
