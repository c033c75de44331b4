// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"

// Describes inputs on their way from a file to an engine. In files samples lie one after the other in
// dimension 0, whichever dimension of the model's input is the batch, so that one file serves every batch
// size. An input without a batch dimension is one sample.
namespace paceline::pass {

inline constexpr std::int64_t kNoBatch = -1;

// The files of inputs: PREFIX-0.npy for the first, and so on.
std::vector<std::string> input_file_names(const std::string& prefix, std::size_t count);
// The batch dimension of input i; 0 where `dimensions` is empty.
std::int64_t batch_dimension_of(std::span<const std::int64_t> dimensions, std::size_t i);

// Multiplies the batch of the inputs by `factor`.
void multiply_batch(std::vector<TensorSpec>& inputs, std::span<const std::int64_t> dimensions,
                    std::int64_t factor);

// The shape in a file of `samples` samples of an input with this shape.
Shape stored_shape(const Shape& shape, std::int64_t batch_dimension, std::int64_t samples);

// The shape in the model's layout of `samples` samples with this stored shape.
Shape model_shape(const Shape& stored, std::int64_t batch_dimension, std::int64_t samples);

// Converts a tensor with any number of samples from the model's layout to the stored one.
Tensor to_stored(Tensor tensor, std::int64_t batch_dimension);

// Converts stored samples to the model's layout.
Tensor to_model(const Tensor& stored, std::int64_t batch_dimension);

// Stored samples as batches in the model's layout: [batches, ...shape of one batch]. The batch dimension must
// be above 0: with 0 they are already so, and an input without a batch dimension is one sample.
Tensor to_batches(const Tensor& stored, std::int64_t batch_dimension, std::int64_t batch);

}  // namespace paceline::pass
