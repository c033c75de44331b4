// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>

#include "workload/training/train_spec.h"

// Data that are not trained on.
namespace paceline::workload {

// Whether the source has a held-out part where `data` says: CIFAR-100's test set, val or test beside train of
// an image folder. Looks at names only.
bool has_held_out(const DataSpec& data);

// An image folder that holds train, and val or test, is one for each; any other is the whole.
std::filesystem::path image_folder_of(const DataSpec& data);

}  // namespace paceline::workload
