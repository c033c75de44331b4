// SPDX-License-Identifier: MIT
// Reads model files, also those whose weights lie behind links.
#pragma once
#include <memory>
#include <openvino/core/model.hpp>
#include <string>
#include <vector>

#include "base/mapped_file.h"

namespace paceline::openvino_plugin {

// A model, and the files that it may refer to as long as it lives.
struct ReadModel {
  std::shared_ptr<ov::Model> graph;
  std::vector<std::unique_ptr<MappedFile>> data{};
};

// Throws Error(kData) for data files that are links out of the model's folder, and what OpenVINO throws.
ReadModel read_model(const std::string& file);

}  // namespace paceline::openvino_plugin
