// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "base/pretrained_model.h"
#include "config/model.h"

// Models whose sizes are in a folder: Hugging Face's config.json beside weights (base/pretrained_model.h).
namespace paceline::config {

// Reads the folder, so that find_model knows it by the path as written. Throws Error(kData).
const Model& read_folder_model(const std::string& folder);
// Reads the family of its model.
TransformerFamily read_folder_family(const std::string& folder);

// The folder that was last read under this path; null when there was none.
const Model* find_folder_model(std::string_view folder);

}  // namespace paceline::config
