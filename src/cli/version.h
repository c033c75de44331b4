// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/stored/run_result.h"

namespace paceline::cli {

result::Suite suite();
// Prints the version and the libraries the plug-ins were built for, from their manifests; loads nothing.
std::string version_text();

}  // namespace paceline::cli
