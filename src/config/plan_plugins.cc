// SPDX-License-Identifier: MIT
#include <yaml-cpp/yaml.h>

#include "config/plan.h"

namespace paceline::config {

std::vector<std::string> plan_plugins(const std::filesystem::path& path) {
  std::vector<std::string> files;
  try {
    const YAML::Node root = YAML::LoadFile(path.string());
    for (const char* key : {"plugin", "plugins"}) {
      const YAML::Node node = root[key];
      if (node && node.IsScalar()) files.push_back(node.as<std::string>());
      if (node && node.IsSequence())
        for (const auto& item : node) files.push_back(item.as<std::string>());
    }
  } catch (const YAML::Exception&) {
    files.clear();  // load_plan will say what is wrong, with its place
  }
  return files;
}

}  // namespace paceline::config
