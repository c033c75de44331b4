// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"

// Inputs on their way from a file to an engine. In files samples lie one after the other in dimension 0,
// whichever dimension of the model's input is the batch, so that one file serves every batch size. An input
// without a batch dimension is one sample.
namespace paceline::workload {

inline constexpr std::int64_t kNoBatch = -1;

// The batch dimension of input i of a pass; 0 where `dimensions` is empty.
std::int64_t batch_dimension_of(std::span<const std::int64_t> dimensions, std::size_t i);

// The inputs at so many times their batch.
void multiply_batch(std::vector<TensorSpec>& inputs, std::span<const std::int64_t> dimensions,
                    std::int64_t factor);

// The shape in a file of so many samples of an input with this shape.
Shape stored_shape(const Shape& shape, std::int64_t batch_dimension, std::int64_t samples);

// The shape of so many samples as the model takes them, from a stored shape.
Shape model_shape(const Shape& stored, std::int64_t batch_dimension, std::int64_t samples);

// A tensor in the model's layout, any number of samples along its batch dimension, as it is stored.
Tensor to_stored(Tensor tensor, std::int64_t batch_dimension);

// Stored samples as batches in the model's layout, one after the other: [batches, ...shape of one batch].
// The batch dimension is above 0: where it is 0 they lie so already, and an input without one is one sample.
Tensor to_batches(const Tensor& stored, std::int64_t batch_dimension, std::int64_t batch);

}  // namespace paceline::workload
