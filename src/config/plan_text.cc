// SPDX-License-Identifier: MIT
#include "config/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/foreign_text.h"
#include "base/near_file.h"
#include "base/reading.h"
#include "config/yaml_tree.h"

namespace paceline::config {
namespace {

YamlNode root_of(const PlanText& plan) {
  try {
    return parse_yaml(plan.text, plan.source);
  } catch (const Error&) {
    return {};
  }
}

void append_texts(const YamlNode& node, std::vector<std::string>& texts) {
  if (node.kind == YamlNode::Kind::kScalar) texts.push_back(node.text);
  for (const auto& item : node.items)
    if (item.kind == YamlNode::Kind::kScalar) texts.push_back(item.text);
}

}  // namespace

PlanText read_plan_text(const std::filesystem::path& path) {
  try {
    if (path == "-") return {read_standard_input(limit_of(Foreign::kPlan).bytes), "standard input"};
    return {read_foreign(path, Foreign::kPlan), path.string()};
  } catch (const Error& error) {
    throw ConfigErrors({{"", 0, 0,
                         fmt::format("{}{} (it should be a plan; examples/plans has some)", error.what(),
                                     is_missing(path) ? near_file(path) : "")}});
  }
}

std::vector<std::string> plan_plugins(const PlanText& plan) {
  std::vector<std::string> files;
  const YamlNode root = root_of(plan);
  for (std::size_t i = 0; i < root.keys.size(); ++i)
    if (root.keys[i].text == "plugin" || root.keys[i].text == "plugins") append_texts(root.items[i], files);
  return files;
}

Place place_in_plan(const PlanText& plan, std::initializer_list<std::string_view> keys,
                    std::string_view value) {
  const YamlNode root = root_of(plan);
  for (std::size_t i = 0; i < root.keys.size(); ++i) {
    if (std::ranges::find(keys, root.keys[i].text) == keys.end()) continue;
    if (root.items[i].text == value) return root.items[i].place;
    for (const auto& item : root.items[i].items)
      if (item.text == value) return item.place;
  }
  return {};
}

std::optional<std::string> plan_value(const PlanText& plan, std::string_view key) {
  const YamlNode root = root_of(plan);
  for (std::size_t i = 0; i < root.keys.size(); ++i)
    if (root.keys[i].text == key && root.items[i].kind == YamlNode::Kind::kScalar) return root.items[i].text;
  return std::nullopt;
}

}  // namespace paceline::config
