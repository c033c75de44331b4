// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "config/diagnostic.h"
#include "config/raw_setting.h"
#include "config/settings.h"
#include "config/value.h"

namespace paceline::config {

// Builds settings: converts raw values with their rows for `kinds` and fills in the defaults. Later settings
// replace earlier ones of the same name (overrides stand last). Mistakes go to `problems`.
Settings build_settings(std::span<const RawSetting> raw, unsigned kinds, const NameSpace& names,
                        std::vector<Diagnostic>& problems);

// A model file given as the engine is the model of the engine that it implies; where no engine is written,
// model files imply theirs.
void imply_engines(Settings& settings, std::span<const RawSetting> raw, std::vector<Diagnostic>& problems);

// Replaces models that are given by family ("bert") with the folders of their weights
// (config/inference/folder_weights.h).
void imply_folders(Settings& settings, std::span<const RawSetting> raw, std::vector<Diagnostic>& problems);

// Works out the input shapes of a model file with the batch marked, and the batch sizes that follow
// (config/shapes.h), from what is written and from the file itself; and which integers are generated
// (config/inference/input_values.h). Those that stay 1 without a known meaning go to `remarks`.
void settle_inputs(Settings& settings, std::span<const RawSetting> raw, const Place& where,
                   const NameSpace& names, std::vector<Diagnostic>& problems,
                   std::vector<std::string>& remarks);

// Checks options of one workload against each other: orders, exclusions, needs of models.
void check_workload(const Settings& settings, std::span<const RawSetting> raw, const Place& where,
                    unsigned kinds, std::vector<Diagnostic>& problems);

}  // namespace paceline::config
