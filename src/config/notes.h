// SPDX-License-Identifier: MIT
// Checks the lines that a user writes about a run.
#pragma once
#include <vector>

#include "config/diagnostic.h"
#include "config/raw_setting.h"

namespace paceline::config {

// Removes empty notes, and line ends behind those that are blocks of YAML. Reports notes that are too long or
// have control characters.
void settle_notes(std::vector<RawSetting>& settings, std::vector<Diagnostic>& problems);

}  // namespace paceline::config
