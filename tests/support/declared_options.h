// SPDX-License-Identifier: MIT
// Options that the plug-ins of this build declare, as the tool has them in its table.
#pragma once
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "config/declared_options.h"
#include "plugin/registry.h"

namespace paceline::test {

inline void use_options_of_this_build() {
  std::vector<DeclaredOption> declared;
  for (const auto& manifest : plugin::read_manifests(plugin::plugin_dir()))
    declared.insert(declared.end(), manifest.options.begin(), manifest.options.end());
  config::use_declared_options(std::move(declared));
}

// For ::testing::AddGlobalTestEnvironment.
class OptionsOfThisBuild : public ::testing::Environment {
 public:
  void SetUp() override { use_options_of_this_build(); }
};

}  // namespace paceline::test
