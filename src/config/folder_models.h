// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "config/settings.h"

// Models whose sizes are in a folder: Hugging Face's config.json beside weights (base/pretrained_model.h).
namespace paceline::config {

struct Model;

// Reads the folder, so that find_model knows it by the path as written. Throws Error(kData).
const Model& read_folder_model(const std::string& folder);

// The folder that was last read under this path; null when there was none.
const Model* find_folder_model(std::string_view folder);

// The folder that gives a model its sizes where `model` is a family ("bert") and a config.json lies beside
// `weights`; empty where the name says everything. Throws Error(kUsage) or what read_folder_model throws.
std::string folder_of_weights(const std::string& model, const std::string& weights);

// The file of weights: the option `weights`, else the one in the model's folder; empty: random weights.
std::string weights_of(const Settings& settings);

}  // namespace paceline::config
