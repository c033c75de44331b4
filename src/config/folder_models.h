// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "config/settings.h"

// Models whose sizes stand in a folder: Hugging Face's config.json beside weights (base/pretrained_model.h).
namespace paceline::config {

struct Model;

// Reads the folder, so that find_model knows it under the path as it is written. Throws Error(kData).
const Model& read_folder_model(const std::string& folder);

// The folder read last under this path; null: none was.
const Model* find_folder_model(std::string_view folder);

// The folder that gives a model its sizes where `model` names a family ("bert") and a config.json lies beside
// `weights`; empty: the model is what its name says. Throws Error(kUsage) or what read_folder_model throws.
std::string folder_of_weights(const std::string& model, const std::string& weights);

// The file of weights: what `weights` says, else that in the model's folder; empty: drawn at random.
std::string weights_of(const Settings& settings);

}  // namespace paceline::config
