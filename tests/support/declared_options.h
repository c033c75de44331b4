// SPDX-License-Identifier: MIT
// Declarations of this build's plug-ins about their engines, as the tool has them in its tables, and formats
// of reports.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "config/declared_options.h"
#include "config/option_table.h"
#include "config/vocabulary.h"
#include "plugin/registry.h"

namespace paceline::test {

inline void use_options_of_this_build() {
  std::vector<DeclaredOption> declared;
  std::vector<DeclaredEngine> engines;
  for (const auto& manifest : plugin::read_manifests(plugin::plugin_dir())) {
    declared.insert(declared.end(), manifest.options.begin(), manifest.options.end());
    engines.insert(engines.end(), manifest.engines.begin(), manifest.engines.end());
  }
  config::use_declared_engines(std::move(engines));
  config::use_declared_options(std::move(declared));
  static constexpr std::array<config::Choice, 3> kFormats{{{"html"}, {"markdown"}, {"csv"}}};
  config::set_choices("format", config::kReport, kFormats);
  config::set_choices("answer_format", config::kAnyCommand, kFormats);
}

// For ::testing::AddGlobalTestEnvironment.
class OptionsOfThisBuild : public ::testing::Environment {
 public:
  void SetUp() override { use_options_of_this_build(); }
};

}  // namespace paceline::test
