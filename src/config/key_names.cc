// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "config/plan_reader.h"

// Knows which keys exist where, and what to say about one that does not.
namespace paceline::config {
namespace {

std::string_view leaf(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(dot + 1);
}

std::vector<std::string> keys_for(unsigned kinds) {
  std::vector<std::string> keys;
  for (const Option* option : options_of(kinds)) {
    keys.emplace_back(option->name);
    for (auto& alias : alias_names(*option)) keys.push_back(std::move(alias));
  }
  return keys;
}

std::string list_example(const Option& option) {
  if (!option.is_axis() || option.is_map()) return "";
  if (option.type == OptionType::kInteger) return " (a list: [1, 8])";
  if (option.choices.size() < 2) return " (a list)";
  return fmt::format(" (a list: [{}, {}])", option.choices[0].name, option.choices[1].name);
}

std::string meant(const std::string& key, unsigned kinds) {
  const Option* option = find_option(key, kinds);
  return fmt::format("; did you mean '{}'?{}", key, option ? list_example(*option) : "");
}

// Selects from `kinds` those that have the key.
unsigned key_kinds(std::string_view key, unsigned kinds) {
  unsigned found = 0;
  for (unsigned bit = 1; bit < kPlanLevel; bit <<= 1)
    if ((kinds & bit) && find_option(key, bit)) found |= bit;
  return found;
}

// Selects from `kinds` those that have this section.
unsigned section_kinds(std::string_view section, unsigned kinds) {
  unsigned found = 0;
  for (unsigned bit = 1; bit <= kPlanLevel; bit <<= 1)
    if ((kinds & bit) && !section_keys(section, bit).empty()) found |= bit;
  return found;
}

}  // namespace

std::vector<std::string> section_keys(std::string_view section, unsigned kinds) {
  std::vector<std::string> keys;
  const std::string prefix = std::string(section) + ".";
  const auto add = [&](std::string_view name) {
    if (name.starts_with(prefix)) keys.emplace_back(name.substr(prefix.size()));
  };
  for (const Option* option : options_of(kinds)) {
    add(option->name);
    for (const auto& alias : alias_names(*option)) add(alias);
  }
  return keys;
}

const Option* row_of(std::string_view name, unsigned kinds) {
  if (const Option* option = find_option(name, kinds)) return option;
  const Option* map = find_option(name.substr(0, name.find('.')), kinds);
  return map && map->is_map() ? map : nullptr;
}

const Shorthand* find_shorthand(std::string_view key, std::string_view when) {
  for (const auto& row : shorthands())
    if (row.key == key && row.when == when) return &row;
  return nullptr;
}

bool is_shorthand(std::string_view key, unsigned kinds) {
  return std::any_of(shorthands().begin(), shorthands().end(),
                     [&](const Shorthand& row) { return row.key == key && find_option(row.option, kinds); });
}

std::string key_hint(std::string_view key, unsigned kinds) {
  if (key.size() > 80) return "";
  const unsigned elsewhere = (kAnyKind | kPlanLevel) & ~kinds;
  if (const Option* other = find_option(key, elsewhere)) {
    if (other->kinds & kPlanLevel) return "; it belongs to the top of the plan, beside 'workloads'";
    return fmt::format("; it belongs to a workload of kind {}", kinds_text(key_kinds(key, elsewhere)));
  }
  const unsigned other = section_kinds(key, elsewhere);
  if ((other & kPlanLevel) != 0) return "; it belongs to the top of the plan, beside 'workloads'";
  if (other != 0) return fmt::format("; it belongs to a workload of kind {}", kinds_text(other));
  const auto keys = keys_for(kinds);
  const auto same_leaf =
      std::find_if(keys.begin(), keys.end(), [&](const auto& k) { return leaf(k) == leaf(key); });
  const auto nearest = same_leaf != keys.end() ? std::optional(*same_leaf) : nearest_name(key, keys);
  if (!nearest) return "";
  const Option* option = find_option(*nearest, kinds);
  return meant(option && option->is_axis() ? std::string(option->name) : *nearest, kinds);
}

}  // namespace paceline::config
