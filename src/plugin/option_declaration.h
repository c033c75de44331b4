// SPDX-License-Identifier: MIT
// Reads the options that a plug-in declares.
#pragma once
#include <string>
#include <vector>

#include "base/declared_option.h"
#include "plugin/capability.h"

namespace paceline::plugin {

// `json`: an array, as `options` of a manifest and Plugin::options have it. Throws Error(kData) that names
// the option and what is wrong with it.
std::vector<DeclaredOption> parse_options(const std::string& json, const std::vector<Capability>& brings);

}  // namespace paceline::plugin
