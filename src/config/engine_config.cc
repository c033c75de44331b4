// SPDX-License-Identifier: MIT
#include "config/engine_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "config/engine_config_words.h"
#include "config/option_table.h"
#include "config/schema.h"

namespace paceline::config {
namespace {

using Json = nlohmann::json;

constexpr const char* kInputName = "input_name";  // whose shapes are lists

// Whether a settings file may hold the option: not the file itself, nor how the command prints.
bool belongs(const Option& option) {
  return serves(option, kBuild) && !serves(option, kValidate) && option.name != "engine_config" &&
         option.name != "json";
}

const Option* find_key(const std::string& key) {
  const Option* option = find_flag("--" + key, kBuild);
  return option && belongs(*option) ? option : nullptr;
}

std::vector<std::string> known_keys() {
  std::vector<std::string> keys{kInputName};
  for (const auto& group : option_groups())
    for (const auto& option : group.options)
      if (belongs(option)) keys.emplace_back(option.name);
  return keys;
}

bool takes_shapes(const Option& option) {
  return option.name.ends_with("_shapes");
}

std::string extents_text(const Json& dims) {
  std::vector<std::string> extents;
  for (const auto& extent : dims) extents.push_back(extent.dump());
  return join(extents, "x");
}

// {"input": [1, 3]} becomes "input:1x3"; other JSON becomes text that the parser of shapes refuses.
std::string map_text(const Json& map) {
  std::vector<std::string> items;
  for (const auto& [name, dims] : map.items())
    items.push_back(fmt::format("{}:{}", name, extents_text(dims)));
  return join(items, ",");
}

std::string scalar_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// [1, 3] is of the input that the file names, else of the model's only one.
std::string profiles_text(const Json& value, const std::string& input_name) {
  if (value.is_object()) return map_text(value);
  if (!value.is_array()) return scalar_text(value);
  if (!value.empty() && value.front().is_number())
    return input_name.empty() ? extents_text(value) : fmt::format("{}:{}", input_name, extents_text(value));
  std::vector<std::string> profiles;
  for (const auto& profile : value) profiles.push_back(profiles_text(profile, input_name));
  return join(profiles, ";");
}

class Reader {
 public:
  Reader(FlagSet& into, std::string file) : into_(into), file_(std::move(file)) {}

  void read_file(Json root) {
    for (auto& [key, message] : settle_switches(root)) report(key, std::move(message));
    if (const auto name = root.find(kInputName); name != root.end() && name->is_string()) input_name_ = *name;
    read("", root);
  }

 private:
  void read(const std::string& prefix, const Json& object) {
    for (const auto& [key, value] : object.items()) {
      if (into_.problems.size() > kMostMistakes) return;
      if (into_.problems.size() == kMostMistakes)
        return report(prefix + key, "further mistakes are not shown: from here on nothing was read");
      if (prefix + key != kInputName || !value.is_string()) read_entry(prefix + key, value);
    }
  }

  void report(const std::string& key, std::string message) {
    into_.problems.push_back(diagnostic({fmt::format("{}: '{}'", file_, key), 0, 0}, std::move(message)));
  }

  void read_entry(const std::string& key, const Json& value) {
    auto translated = translated_entry(key, value);
    if (const std::string plain(without_place_ending(key)); !translated && !find_key(key) && plain != key) {
      translated = translated_entry(plain, value);
      if (!translated && find_key(plain)) translated.emplace({EngineConfigEntry{plain, value}});
    }
    if (!translated) return read_option(key, key, value);
    for (const auto& [option, meant] : *translated) read_option(option, key, meant);
  }

  // `name` is the option's name, `key` the key in the file.
  void read_option(const std::string& name, const std::string& key, const Json& value) {
    const Option* option = find_key(name);
    if (!option && value.is_object()) return read(key + ".", value);
    if (!option) return report_unknown(key);
    if (takes_shapes(*option)) return read_shapes(*option, key, value);
    if (value.is_array() && option->form == OptionForm::kList) return store_list(*option, key, value);
    if (value.is_array() || value.is_object() || value.is_null())
      return report(key, "takes one value: a number, true, false or a text");
    store(*option, key, {scalar_text(value)}, false);
  }

  void read_shapes(const Option& option, const std::string& key, const Json& value) {
    store(option, key, {profiles_text(value, input_name_)}, false);
  }

  void store_list(const Option& option, const std::string& key, const Json& values) {
    std::vector<std::string> texts;
    for (const auto& value : values) texts.push_back(scalar_text(value));
    store(option, key, std::move(texts), true);
  }

  void store(const Option& option, const std::string& key, std::vector<std::string> texts, bool is_list) {
    RawSetting setting;
    setting.name = option.name;
    setting.written = key;
    setting.place.file = fmt::format("{}: '{}'", file_, key);
    setting.is_list = is_list;
    for (auto& text : texts) setting.values.push_back({std::move(text), setting.place, false});
    const auto same = [&](const RawSetting& s) { return s.name == setting.name; };
    if (std::any_of(into_.settings.begin(), into_.settings.end(), same))
      return report(key, "sets an option that an earlier key of this file set");
    into_.settings.push_back(std::move(setting));
  }

  void report_unknown(const std::string& key) {
    const auto keys = known_keys();
    const auto near = key.size() <= 80 ? nearest_name(key, keys) : std::nullopt;
    report(key, near ? fmt::format("unknown key; did you mean '{}'?", *near)
                     : fmt::format("unknown key; there are: {}", join(keys, ", ")));
  }

  FlagSet& into_;
  std::string file_, input_name_;
};

Json shapes_schema(const std::string& help) {
  const Json map = {{"type", "object"},
                    {"additionalProperties",
                     {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 1}}}, {"minItems", 1}}}};
  const Json dims = map.at("additionalProperties");
  return {{"anyOf", {{{"type", "string"}}, map, dims, {{"type", "array"}, {"items", map}, {"minItems", 1}}}},
          {"description", help}};
}

}  // namespace

FlagSet with_engine_config(const FlagSet& flags, std::string_view json_text, const std::string& file) {
  Json root;
  try {
    root = parsed_json(json_text);
  } catch (const Json::exception& e) {
    throw Error(ErrorCode::kConfig, fmt::format("engine config '{}' is no JSON: {}", file, plain_reason(e)));
  }
  if (!root.is_object())
    throw Error(
        ErrorCode::kConfig,
        fmt::format("engine config '{}' is no JSON object of options, e.g. {{\"precision\": \"fp16\"}}",
                    file));
  FlagSet merged;
  merged.command = flags.command;
  merged.positionals = flags.positionals;
  merged.problems = flags.problems;
  merged.remarks = flags.remarks;
  Reader(merged, file).read_file(root);
  merged.settings.insert(merged.settings.end(), flags.settings.begin(), flags.settings.end());
  return merged;
}

Json engine_config_schema() {
  Json properties = {
      {kInputName, {{"type", "string"}, {"description", "The input whose shapes are lists of numbers."}}}};
  for (const auto& group : option_groups())
    for (const auto& option : group.options) {
      if (!belongs(option)) continue;
      const auto one =
          or_null(takes_shapes(option) ? shapes_schema(std::string(option.help)) : option_schema(option));
      const auto dot = option.name.find('.');
      if (dot == std::string_view::npos) {
        properties[std::string(option.name)] = one;
        continue;
      }
      auto& section = properties[std::string(option.name.substr(0, dot))];
      section["type"] = "object", section["additionalProperties"] = false;
      section["properties"][std::string(option.name.substr(dot + 1))] = one;
    }
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Paceline engine config"},
          {"type", "object"},
          {"additionalProperties", false},
          {"properties", properties}};
}

}  // namespace paceline::config
