// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>

namespace paceline::torch_test {

// Where a plug-in under test lies: below the folder that PACELINE_PLUGINS names (a bundle's), else where it
// was built.
inline std::filesystem::path plugin_file(const std::filesystem::path& built) {
  const char* folder = std::getenv("PACELINE_PLUGINS");
  return folder && *folder ? std::filesystem::path(folder) / built.filename() : built;
}

}  // namespace paceline::torch_test
