// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>

#include "pass/train_spec.h"

// Tells whether a source has data that are not trained on.
namespace paceline::workload {

// Whether the source has a held-out part where `data` says: CIFAR-100's test set, val or test beside train of
// an image folder. Looks at names only.
bool has_held_out(const pass::DataSpec& data);

// The part of an image folder that `data` asks for, train or held-out; the whole folder where it has no
// parts.
std::filesystem::path image_folder_of(const pass::DataSpec& data);

}  // namespace paceline::workload
