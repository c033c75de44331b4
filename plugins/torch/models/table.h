// SPDX-License-Identifier: MIT
// Finds models: built-in ones, and folders.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/tensor.h"
#include "plugin/engine.h"
#include "torch/models/model_row.h"

namespace paceline::torch_plugin {

// A built-in model, or a folder of config.json and weights (models/folder.h). Error(kUsage) lists the known
// names, the nearest first.
ModelRow find_model(const std::string& name);

// Error(kUsage) unless names, types and shapes are those of the model; the batch is free.
void check_inputs(const ModelRow& row, std::span<const TensorSpec> inputs);

// Makes the model that `spec` names, checks its inputs, and reads or draws its weights.
std::shared_ptr<Model> make_model(const plugin::ModelSpec& spec, int threads);

// Makes it with the head for training, where that is another one (BERT: masked tokens). `classes` is the
// number of classes of an image model; 0: its own.
std::shared_ptr<Model> make_model_with_training_head(const plugin::ModelSpec& spec, int threads,
                                                     std::int64_t classes = 0);

}  // namespace paceline::torch_plugin
