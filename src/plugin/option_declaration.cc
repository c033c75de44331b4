// SPDX-License-Identifier: MIT
#include "plugin/option_declaration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/bounded_json.h"
#include "base/device.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace paceline::plugin {
namespace {

using Json = nlohmann::json;

// In the order of DeclaredType.
constexpr std::array<std::string_view, 6> kTypes{"text", "integer", "number", "boolean", "choice", "bytes"};

void read_type(const Json& value, DeclaredOption& option) {
  const auto name = value.get<std::string>();
  const auto found = std::ranges::find(kTypes, name);
  if (found == kTypes.end())
    throw Error(ErrorCode::kData, fmt::format("type '{}' is none of {}", name, fmt::join(kTypes, ", ")));
  option.type = static_cast<DeclaredType>(found - kTypes.begin());
}

struct Field {
  std::string_view name;
  void (*read)(const Json&, DeclaredOption&);
};
constexpr std::array kFields{
    Field{"name", [](const Json& value, DeclaredOption& o) { o.name = value.get<std::string>(); }},
    Field{"type", read_type},
    Field{"choices",
          [](const Json& value, DeclaredOption& o) { o.choices = value.get<std::vector<std::string>>(); }},
    Field{"min", [](const Json& value, DeclaredOption& o) { o.min = value.get<double>(); }},
    Field{"max", [](const Json& value, DeclaredOption& o) { o.max = value.get<double>(); }},
    Field{"default",
          [](const Json& value, DeclaredOption& o) {
            o.fallback = value.is_string() ? value.get<std::string>() : value.dump();
          }},
    Field{"unit", [](const Json& value, DeclaredOption& o) { o.unit = value.get<std::string>(); }},
    Field{"help", [](const Json& value, DeclaredOption& o) { o.help = value.get<std::string>(); }},
    Field{"identity", [](const Json& value, DeclaredOption& o) { o.identity = value.get<bool>(); }},
};

void read_field(const std::string& name, const Json& value, DeclaredOption& option) {
  const auto field = std::ranges::find(kFields, std::string_view(name), &Field::name);
  if (field != kFields.end()) return field->read(value, option);
  std::vector<std::string> names;
  for (const auto& row : kFields) names.emplace_back(row.name);
  throw Error(ErrorCode::kData, fmt::format("it has no field '{}'; there are {}", name, join(names, ", ")));
}

bool is_key(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == text.npos;
}

void check(const DeclaredOption& option) {
  const auto dot = option.name.find('.');
  if (dot == std::string::npos || !is_key(std::string_view(option.name).substr(dot + 1)))
    throw Error(ErrorCode::kData, "its name is not OWNER.NAME with the letters a-z, digits and '_' in NAME");
  if (option.help.empty()) throw Error(ErrorCode::kData, "it has no help");
  if ((option.type == DeclaredType::kChoice) == option.choices.empty())
    throw Error(ErrorCode::kData, "the type choice, and no other, has choices");
  if (option.min > option.max) throw Error(ErrorCode::kData, "its min is larger than its max");
}

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

DeclaredOption parse_option(const Json& declared, const std::vector<Capability>& brings) {
  DeclaredOption option;
  for (const auto& [name, value] : declared.items()) read_field(name, value, option);
  check(option);
  const auto engines = names_of(brings, Role::kEngine), samplers = names_of(brings, Role::kSampler);
  const auto section = option.section();
  if (among(engines, section))
    option.engine = section;
  else if (among(samplers, section))
    option.sampler = section, option.identity = false;  // cases are the same, whatever is watched beside them
  else if (section != kind_name(DeviceKind::kCuda))
    throw Error(ErrorCode::kData,
                fmt::format("its name begins with no engine or sampler of the plug-in ({}), nor with {}",
                            summary_of(brings), kind_name(DeviceKind::kCuda)));
  return option;
}

}  // namespace

std::vector<DeclaredOption> parse_options(const std::string& json, const std::vector<Capability>& brings) {
  std::vector<DeclaredOption> options;
  std::string name;
  try {
    for (const auto& declared : parsed_json(json)) {
      name = declared.at("name").get<std::string>();
      options.push_back(parse_option(declared, brings));
    }
  } catch (const std::exception& e) {
    throw Error(ErrorCode::kData, fmt::format("option '{}': {}", name, plain_reason(e)));
  }
  return options;
}

}  // namespace paceline::plugin
