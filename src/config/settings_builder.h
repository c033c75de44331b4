// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "config/diagnostic.h"
#include "config/flags.h"
#include "config/settings.h"
#include "config/value.h"

namespace paceline::config {

// Converts raw settings with their rows for `kinds` and fills in the defaults. Later settings replace earlier
// ones of the same name (overrides stand last). Mistakes go to `problems`.
Settings build_settings(std::span<const RawSetting> raw, unsigned kinds, const NameSpace& names,
                        std::vector<Diagnostic>& problems);

// A model file given as the engine is the model of the engine it implies; where no engine is written, model
// files imply theirs.
void imply_engines(Settings& settings, std::span<const RawSetting> raw, std::vector<Diagnostic>& problems);

// Models that are named by their family ("bert") are the folders of their weights (config/folder_models.h).
void imply_folders(Settings& settings, std::span<const RawSetting> raw, std::vector<Diagnostic>& problems);

// The shapes of a model file's inputs with their batch marked, and the batch sizes that follow from them
// (config/shapes.h): from what is written and from what the file itself says.
void settle_inputs(Settings& settings, std::span<const RawSetting> raw, const Place& where,
                   const NameSpace& names, std::vector<Diagnostic>& problems);

// Checks between options of one workload: orders, exclusions, what a model needs. `raw` tells the places.
void check_workload(const Settings& settings, std::span<const RawSetting> raw, const Place& where,
                    unsigned kinds, std::vector<Diagnostic>& problems);

}  // namespace paceline::config
