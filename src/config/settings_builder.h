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
// replace earlier ones of the same name (overrides come last). Mistakes go to `problems`.
Settings build_settings(std::span<const RawSetting> raw, unsigned kinds, const NameSpace& names,
                        std::vector<Diagnostic>& problems);

// A model file given as the engine is the model of the engine that it implies; where no engine is written,
// model files imply theirs.
void imply_engines(Settings& settings, std::span<const RawSetting> raw, std::vector<Diagnostic>& problems);

}  // namespace paceline::config
