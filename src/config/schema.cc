// SPDX-License-Identifier: MIT
#include "config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "config/key_remarks.h"
#include "config/kind_in_plan.h"
#include "config/option_table.h"
#include "config/value.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

using Json = nlohmann::json;

std::string type_text(const Option& option) {
  std::string text = expected_text(option);
  if (option.form == OptionForm::kAxis) text += ", or a list (an axis)";
  if (option.takes_all()) text += ", or all";
  if (option.form == OptionForm::kList) text += ", or a list";
  if (option.form == OptionForm::kMap) return "a map of axis names to values";
  if (option.form == OptionForm::kAxisMap) return "a map of names to values or lists (axes)";
  if (std::isfinite(option.range.min) && std::isfinite(option.range.max))
    text += fmt::format(", {} to {}", option.range.min, option.range.max);
  return text;
}

std::string code_list(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += fmt::format("{}`{}`", out.empty() ? "" : " ", name);
  return out;
}

std::string spellings(const Option& option) {
  if (option.commands == 0) return code_list(alias_names(option));
  auto names = alias_names(option);
  for (const auto& name : flag_names(option))
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return code_list(names);
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

std::string option_row(const Option& option) {
  const std::string fallback = option.fallback.empty() ? "" : fmt::format("`{}`", option.fallback);
  return fmt::format("| `{}` | {} | {}{}{} | {} | {} | {} |\n", option.name, spellings(option),
                     type_text(option), option.unit.empty() ? "" : ", ", option.unit, fallback,
                     kinds_text(option.kinds), escaped(std::string(option.help)));
}

template <typename Rows>
std::string names_table(std::string_view title, const Rows& rows) {
  std::string out = fmt::format("\n## {}\n\n| name | meaning |\n|---|---|\n", title);
  for (const auto& row : rows) out += fmt::format("| `{}` | {} |\n", row.name, row.meaning);
  return out;
}

std::string models_table() {
  std::string out =
      "\n## Models\n\n| name | inputs of one sample | parameters | forward multiply-adds of one sample "
      "|\n|---|---|---|---|\n";
  for (const auto& model : models()) {
    if (model.internal) continue;
    std::vector<std::string> inputs;
    for (const auto& spec : model_inputs(model, 1, model.default_sequence_length)) {
      std::vector<std::string> sizes;
      for (std::size_t i = 1; i < spec.shape.size(); ++i) sizes.push_back(std::to_string(spec.shape[i]));
      inputs.push_back(fmt::format("`{}` {} {}", spec.name, join(sizes, "x"), dtype_name(spec.dtype)));
    }
    out += fmt::format(
        "| `{}` | {} | {} | {}{} |\n", model.name, join(inputs, ", "), model.parameters,
        model.forward_macs(model.default_sequence_length),
        model.default_sequence_length ? fmt::format(" at {} tokens", model.default_sequence_length) : "");
  }
  return out;
}

std::string tolerance_table() {
  std::string out =
      "\n## Accuracy limits\n\nAgainst the FP32 reference; convolutional models, then transformers.\n\n"
      "| precision | max\\|a-b\\|/max\\|b\\| at most | centred cosine at least | changed answers at most "
      "| 0.98 quantile of \\|a-b\\| of maps at most |\n|---|---|---|---|---|\n";
  for (const auto& row : precisions())
    out += fmt::format("| `{}` | {}, {} | {}, {} | {} | {} |\n", row.name, row.cnn.max_rel_err,
                       row.transformer.max_rel_err, row.cnn.centred_cosine, row.transformer.centred_cosine,
                       row.max_changed, row.quantile_err);
  return out;
}

Json scalar_schema(const Option& option) {
  Json schema = Json::object();
  if (option.type == OptionType::kBoolean) schema["type"] = "boolean";
  if (option.type == OptionType::kInteger) schema["type"] = "integer";
  if (option.type == OptionType::kNumber) schema["type"] = "number";
  if (option.type == OptionType::kBytes) schema["type"] = {"integer", "string"};
  if (schema.empty()) schema["type"] = "string";
  if (option.is_map()) schema = {{"type", {"string", "number", "boolean"}}};
  if (option.type == OptionType::kInteger || option.type == OptionType::kNumber) {
    if (std::isfinite(option.range.min)) schema["minimum"] = option.range.min;
    if (std::isfinite(option.range.max)) schema["maximum"] = option.range.max;
  }
  if (option.type == OptionType::kChoiceOrFile) return schema;
  for (const auto& choice : option.choices)
    if (choice.available) schema["enum"].push_back(choice.name);
  return schema;
}

Json or_list(const Json& one, bool unique) {
  return {{"anyOf", {one, {{"type", "array"}, {"items", one}, {"minItems", 1}, {"uniqueItems", unique}}}}};
}

Json section_schema() {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
}

}  // namespace

Json option_schema(const Option& option) {
  const Json one = scalar_schema(option);
  Json schema = one;
  if (option.form == OptionForm::kAxis || option.form == OptionForm::kList)
    schema = or_list(one, !option.by_place);
  if (option.takes_all()) schema["anyOf"].push_back({{"const", "all"}});
  if (option.is_map())
    schema = {{"type", "object"},
              {"additionalProperties", option.form == OptionForm::kAxisMap ? or_list(one, true) : one}};
  schema["description"] = option.help;
  return schema;
}

Json or_null(Json one) {
  Json both = {{"anyOf", {one, {{"type", "null"}}}}};
  if (one.contains("description")) {
    both["description"] = one["description"];
    both["anyOf"][0].erase("description");
  }
  return both;
}

namespace {

// The section in a slot, beside a plain key of the same name (model: resnet50, model: {name: resnet50}).
Json& section_in(Json& slot) {
  if (slot.is_null()) return slot = section_schema();
  if (slot.contains("properties")) return slot;
  const bool has_section = slot.contains("anyOf") && slot["anyOf"].back().contains("properties");
  if (!has_section) slot = {{"anyOf", {slot, section_schema()}}};
  return slot["anyOf"].back();
}

// Puts "stop.t_max_s" into the object of "stop".
void insert(Json& properties, std::string_view key, const Json& schema) {
  const std::size_t dot = key.find('.');
  Json& slot = properties[std::string(key.substr(0, dot))];
  if (dot != std::string_view::npos)
    return insert(section_in(slot)["properties"], key.substr(dot + 1), schema);
  slot = slot.is_null() ? schema : Json{{"anyOf", {schema, slot}}};
}

// As plans are read: every key, section, and name in a map may be null.
void allow_null(Json& properties) {
  for (auto& slot : properties) {
    Json& section = slot.contains("anyOf") ? slot["anyOf"].back() : slot;
    if (section.contains("properties")) allow_null(section["properties"]);
    if (slot.contains("additionalProperties") && slot["additionalProperties"].is_object())
      slot["additionalProperties"] = or_null(slot["additionalProperties"]);
    slot = or_null(std::move(slot));
  }
}

Json properties_of(unsigned kinds) {
  Json properties = Json::object();
  for (const Option* option : options_of(kinds)) {
    if (!option->available) continue;
    insert(properties, option->name, option_schema(*option));
    for (const auto& alias : alias_names(*option)) insert(properties, alias, option_schema(*option));
  }
  for (const auto& row : shorthands())
    if (!row.key.starts_with("--") && row.when == "true" && find_option(row.option, kinds))
      insert(properties, row.key, {{"type", "boolean"}});
  for (const auto& row : key_remarks())
    if ((row.kinds & kinds) != 0 && !row.keys.empty())
      for (const auto& key : split(row.keys, ',')) insert(properties, key, {{"description", row.why}});
  allow_null(properties);
  return properties;
}

Json workload_schema(WorkloadKind kind, unsigned more) {
  Json schema = {{"type", "object"},
                 {"additionalProperties", false},
                 {"properties", properties_of(kind_bit(kind) | more)}};
  const Json name = {{"const", traits_of(kind).name}};
  const bool implied = !in_plan(kind).implied_by.empty();
  schema["properties"]["kind"] = implied ? or_null(name) : name;
  if (!implied) schema["required"] = {"kind"};
  return schema;
}

Json any_workload(unsigned more) {
  Json schema = {{"anyOf", Json::array()}};
  for (const auto& row : kWorkloadKinds) schema["anyOf"].push_back(workload_schema(row.kind, more));
  return schema;
}

}  // namespace

std::string options_markdown() {
  std::string out =
      "# Options\n\nWritten by `paceline schema` from the option table. A key `a.b` is `b` in the section "
      "`a` of a plan, and `--a.b=VALUE` on the command line.\n";
  for (const auto& group : option_groups()) {
    if (group.options.empty()) continue;
    out += fmt::format(
        "\n## {}\n\n| key | also written | value | default | kinds | meaning |\n|---|---|---|---|---|---|\n",
        group.title);
    for (const auto& option : group.options)
      if (option.available) out += option_row(option);
  }
  return out + models_table() + names_table("Engines", engines()) + names_table("Precisions", precisions()) +
         tolerance_table();
}

Json plan_json_schema() {
  Json list = {{"type", "object"},
               {"additionalProperties", false},
               {"required", {"workloads"}},
               {"properties", properties_of(kPlanLevel)}};
  list["properties"]["workloads"] = {{"type", "array"}, {"minItems", 1}, {"items", any_workload(0)}};
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Paceline plan"}};
  schema["anyOf"] = any_workload(kPlanLevel)["anyOf"];
  schema["anyOf"].push_back(list);
  return schema;
}

}  // namespace paceline::config
