// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/file.h"
#include "config/plan.h"
#include "config/yaml_tree.h"

namespace paceline::config {
namespace {

void append_texts(const YamlNode& node, std::vector<std::string>& texts) {
  if (node.kind == YamlNode::Kind::kScalar) texts.push_back(node.text);
  for (const auto& item : node.items)
    if (item.kind == YamlNode::Kind::kScalar) texts.push_back(item.text);
}

}  // namespace

std::vector<std::string> plan_plugins(const std::filesystem::path& path) {
  std::vector<std::string> files;
  try {
    const YamlNode root = parse_yaml(read_file(path), path.string());
    for (std::size_t i = 0; i < root.keys.size(); ++i)
      if (root.keys[i].text == "plugin" || root.keys[i].text == "plugins") append_texts(root.items[i], files);
  } catch (const Error&) {
    files.clear();  // load_plan will say what is wrong, with its place
  }
  return files;
}

}  // namespace paceline::config
