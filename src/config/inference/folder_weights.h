// SPDX-License-Identifier: MIT
// Weights of models whose sizes are in a folder, and the folders of weights.
#pragma once
#include <string>

#include "config/settings.h"
#include "config/workload_draft.h"

namespace paceline::config {

// The folder that gives a model its sizes where `model` is a family ("bert") and a config.json lies beside
// `weights`; empty where the name says everything. Throws Error(kUsage) or what read_folder_model throws.
std::string folder_of_weights(const std::string& model, const std::string& weights);

// Replaces models that are given by family ("bert") with the folders of their weights.
void imply_folders(WorkloadDraft& draft);

// The file of weights: the option `weights`, else the one in the model's folder; empty: random weights.
std::string weights_of(const Settings& settings);

}  // namespace paceline::config
