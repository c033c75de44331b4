// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "torch/models/model_row.h"

namespace paceline::torch_plugin {

// The model of a folder written by Hugging Face's save_pretrained, with the names of its weights. Throws what
// read_pretrained_model (base/pretrained_model.h) throws.
ModelRow folder_row(const std::string& folder);

}  // namespace paceline::torch_plugin
