// SPDX-License-Identifier: MIT
#include "config/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/display_text.h"
#include "base/lower_case.h"
#include "base/model_content.h"
#include "base/near_file.h"
#include "base/pretrained_model.h"
#include "base/reading.h"
#include "base/text.h"
#include "config/engine_of_model.h"
#include "config/folder_models.h"
#include "config/foreign_models.h"
#include "config/older_flags.h"
#include "config/option_table.h"
#include "config/shapes.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

Converted fail(std::string problem) {
  return {std::nullopt, std::move(problem)};
}

Converted fail(const Option& option, const RawValue& raw, std::string_view why) {
  return fail(fmt::format("{} '{}' {}", singular(option), shown_value(raw.text), why));
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const auto nearest = word.size() <= 80 ? nearest_name(word, candidates) : std::nullopt;
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : "";
}

bool has_leading_zero(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && std::isdigit(static_cast<unsigned char>(text[1]));
}

std::string range_text(const Option& option) {
  const std::string unit = option.unit.empty() ? "" : fmt::format(" {}", option.unit);
  if (std::isinf(option.range.max)) return fmt::format("at least {}{}", option.range.min, unit);
  return fmt::format("from {} to {}{}", option.range.min, option.range.max, unit);
}

bool has_range(const Option& option) {
  return std::isfinite(option.range.min) || std::isfinite(option.range.max);
}

Converted out_of_range(const Option& option, const RawValue& raw) {
  return fail(option, raw,
              has_range(option) ? fmt::format("is out of range: {}", range_text(option)) : "is too large");
}

Converted in_range(const Option& option, const RawValue& raw, double number, Value value) {
  if (number < option.range.min || number > option.range.max) return out_of_range(option, raw);
  return {std::move(value), {}};
}

// Why a text cannot be a number at all; empty when it may be one.
std::string number_problem(const RawValue& raw, std::string_view wanted) {
  if (raw.quoted) return fmt::format("is text in quotes; {} belongs here", wanted);
  if (has_leading_zero(raw.text))
    return "has a leading zero, which some readers take for octal; write it without";
  return "";
}

template <typename T>
bool is_too_large(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::result_out_of_range && end == text.data() + text.size();
}

// "is not a number (from 0 to 1000)"
std::string no_number(const Option& option, std::string_view wanted) {
  return has_range(option) ? fmt::format("is not {} ({})", wanted, range_text(option))
                           : fmt::format("is not {}", wanted);
}

// Hints "; a list is written 1,2,3,4" for 1:4.
std::string range_hint(const Option& option, std::string_view text) {
  const auto list = option.is_axis() ? list_of_range(text) : "";
  return list.empty() ? "" : fmt::format("; a list is written {}", list);
}

Converted convert_integer(const Option& option, const RawValue& raw) {
  if (const auto problem = number_problem(raw, "a whole number"); !problem.empty())
    return fail(option, raw, problem);
  if (is_too_large<long long>(raw.text)) return out_of_range(option, raw);
  const auto number = parse_int(raw.text);
  if (!number) return fail(option, raw, no_number(option, "a whole number") + range_hint(option, raw.text));
  return in_range(option, raw, static_cast<double>(*number), std::int64_t{*number});
}

Converted convert_number(const Option& option, const RawValue& raw) {
  if (const auto problem = number_problem(raw, "a number"); !problem.empty())
    return fail(option, raw, problem);
  if (is_too_large<double>(raw.text)) return out_of_range(option, raw);
  const auto number = parse_double(raw.text);
  if (!number) return fail(option, raw, no_number(option, "a number") + range_hint(option, raw.text));
  return in_range(option, raw, *number, *number);
}

// "4GiB" is 4G.
std::string_view size_text(std::string_view text) {
  if (text.size() > 3 && text.ends_with("iB") && !std::isdigit(static_cast<unsigned char>(text.end()[-3])))
    text.remove_suffix(2);
  return text;
}

// trtexec puts the pool in front: "workspace:4096" are MiB, "workspace:0.5G" and "workspace:1024B" say their
// unit. None: the text is no such size.
std::optional<double> pool_bytes(const Option& option, std::string_view text) {
  constexpr std::array<std::pair<char, int>, 4> kPoolUnits{{{'B', 0}, {'K', 10}, {'M', 20}, {'G', 30}}};
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || text.substr(0, colon) != option.name) return std::nullopt;
  text = size_text(text.substr(colon + 1));
  int shift = 20;
  for (const auto& [letter, unit] : kPoolUnits)
    if (text.ends_with(letter)) {
      shift = unit;
      text.remove_suffix(1);
      break;
    }
  const auto number = parse_double(text);
  return number ? std::optional(std::floor(std::ldexp(*number, shift))) : std::nullopt;
}

Converted convert_bytes(const Option& option, const RawValue& raw) {
  constexpr std::string_view kScales = "KMGT";
  if (const auto bytes = pool_bytes(option, raw.text))
    return in_range(option, raw, *bytes, static_cast<std::int64_t>(std::clamp(*bytes, -9e18, 9e18)));
  std::string_view digits = size_text(raw.text);
  int shift = 0;
  if (const auto scale = digits.empty() ? std::string_view::npos : kScales.find(digits.back());
      scale != std::string_view::npos) {
    shift = 10 * (static_cast<int>(scale) + 1);
    digits.remove_suffix(1);
  }
  const auto number = parse_int(digits);
  if (!number || has_leading_zero(digits)) return fail(option, raw, "is not a size such as 8, 64K or 256M");
  const double bytes = std::ldexp(static_cast<double>(*number), shift);
  return in_range(option, raw, bytes, static_cast<std::int64_t>(std::clamp(bytes, -9e18, 9e18)));
}

Converted convert_boolean(const Option& option, const RawValue& raw) {
  constexpr std::array<std::string_view, 5> kTrue{"true", "True", "TRUE", "yes", "on"};
  constexpr std::array<std::string_view, 5> kFalse{"false", "False", "FALSE", "no", "off"};
  if (!raw.quoted && std::find(kTrue.begin(), kTrue.end(), raw.text) != kTrue.end()) return {true, {}};
  if (!raw.quoted && std::find(kFalse.begin(), kFalse.end(), raw.text) != kFalse.end()) return {false, {}};
  return fail(option, raw, "is neither true nor false");
}

// Names of this tool ignore upper and lower case.
std::optional<std::string> same_name(std::string_view text, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), text) != names.end()) return std::string(text);
  const auto lower = lower_case(std::string(text));
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& name) { return lower_case(name) == lower; });
  return found == names.end() ? std::nullopt : std::optional(*found);
}

bool names_an_engine(const Option& option) {
  return option.type == OptionType::kEngine || option.type == OptionType::kReference;
}

// "; did you mean 'onnxruntime'?" for another tool's word or a misspelt one.
std::string meant(const Option& option, std::string_view text, const std::vector<std::string>& names) {
  const auto older =
      older_value(names_an_engine(option) ? "engine" : option.name, lower_case(std::string(text)));
  if (!older.empty()) return fmt::format("; here it is {}", older);
  return suggestion(lower_case(std::string(text)), names);
}

// A plan may hold a choice that is not available yet; a command refuses it.
bool is_refused(const Option& option, std::string_view name) {
  return !option.in_plan() && std::any_of(option.choices.begin(), option.choices.end(),
                                          [&](const Choice& c) { return !c.available && c.name == name; });
}

Converted convert_choice(const Option& option, const RawValue& raw) {
  std::vector<std::string> names;
  for (const auto& choice : option.choices) names.emplace_back(choice.name);
  auto name = same_name(raw.text, names);
  if (name && is_refused(option, *name)) {
    const auto older = older_value(option.name, *name);
    return fail(option, raw,
                fmt::format("is not available; there are {}{}{}", choices_text(option),
                            older.empty() ? "" : "; here it is ", older));
  }
  if (name) return {std::move(*name), {}};
  if (const auto taken = taken_value(option.name, lower_case(std::string(raw.text))); !taken.empty())
    return {std::string(taken), {}};
  return fail(option, raw,
              fmt::format("is none of {}{}", choices_text(option), meant(option, raw.text, names)));
}

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

Converted unknown_name(const Option& option, const RawValue& raw, std::vector<std::string> names,
                       const std::vector<std::string>& extra) {
  names.insert(names.end(), extra.begin(), extra.end());
  return fail(option, raw,
              fmt::format("is none of {}, and no file{}", join(names, ", "), meant(option, raw.text, names)));
}

// The file is read by the checks of the plan.
Converted convert_choice_or_file(const Option& option, const RawValue& raw) {
  std::vector<std::string> names;
  for (const auto& choice : option.choices) names.emplace_back(choice.name);
  if (auto name = same_name(raw.text, names)) return {std::move(*name), {}};
  if (raw.text.find_first_of("./") != std::string::npos || exists(raw.text)) return {raw.text, {}};
  return unknown_name(option, raw, std::move(names), {});
}

Converted convert_text(const Option& option, const RawValue& raw) {
  return {names_a_device(option) ? lower_case(raw.text) : raw.text, {}};
}

std::string known_suffixes() {
  std::vector<std::string> suffixes;
  for (const auto& type : file_types()) suffixes.emplace_back(type.suffix);
  return join(suffixes, ", ");
}

Converted convert_folder(const Option& option, const RawValue& raw) try {
  static_cast<void>(read_folder_model(raw.text));
  return {raw.text, {}};
} catch (const Error& error) {
  return fail(option, raw, fmt::format("is a Hugging Face folder: {}", error.what()));
}

Converted convert_model(const Option& option, const RawValue& raw, const NameSpace& names) {
  const Model* model = find_model(raw.text);
  const bool built_in = model && model->folder.empty();
  if (built_in && is_pretrained_folder(raw.text))
    return fail(option, raw,
                fmt::format("is a built-in model and a folder here; write ./{} for the folder, or work in "
                            "another folder for the built-in one",
                            raw.text));
  if (!built_in && is_pretrained_folder(raw.text)) {
    auto folder = convert_folder(option, raw);
    if (folder.value || !names.open) return folder;
  }
  const std::vector<std::string> extra = names.extra ? names.extra->models : std::vector<std::string>{};
  if (built_in || find_family(raw.text) || names.open ||
      std::find(extra.begin(), extra.end(), raw.text) != extra.end())
    return {raw.text, {}};
  if (exists(raw.text)) {
    if (find_file_type(raw.text)) return {raw.text, {}};
    if (const auto why = no_model_file(raw.text); why && !no_regular_file(raw.text))
      return fail(option, raw, *why);
    const auto advice = foreign_model_advice(raw.text);
    if (!advice.empty()) return fail(option, raw, advice);
    return fail(option, raw, fmt::format("is a file of a type no engine reads ({})", known_suffixes()));
  }
  if (find_file_type(raw.text) || raw.text.find('/') != std::string::npos) {
    const auto why = no_regular_file(raw.text).value_or("does not exist");
    if (!is_missing(raw.text)) return fail(option, raw, why);
    return fail(option, raw, why + " (it is relative to the current directory)" + near_file(raw.text));
  }
  std::vector<std::string> known;
  for (const auto& row : models())
    if (!row.internal) known.emplace_back(row.name);
  auto unknown = unknown_name(option, raw, std::move(known), extra);
  const bool ends_as_file = raw.text.find('.') != std::string::npos;
  if (ends_as_file && unknown.problem.ends_with("no file")) unknown.problem += near_file(raw.text);
  return unknown;
}

Converted convert_engine(const Option& option, const RawValue& raw, const NameSpace& names) {
  const std::vector<std::string> extra = names.extra ? names.extra->engines : std::vector<std::string>{};
  const auto* type = find_file_type(raw.text);
  std::vector<std::string> known;
  for (const auto& engine : engines()) known.emplace_back(engine.name);
  if (auto name = same_name(raw.text, known)) return {std::move(*name), {}};
  const bool any = names.open && extra.empty();  // a plug-in of the plan may bring it
  if (raw.text == kEngineOfModel || raw.text == kEveryEngine || any || (type && !type->engine.empty()) ||
      std::find(extra.begin(), extra.end(), raw.text) != extra.end())
    return {raw.text, {}};
  return unknown_name(option, raw, std::move(known), extra);
}

// A missing file is reported by the checks of the plan, or by the case that reads it.
Converted convert_reference(const Option& option, const RawValue& raw, const NameSpace& names) {
  const bool outputs = raw.text.ends_with(".npy") || raw.text.ends_with(".npz");
  if (raw.text == kEngineOfModel || raw.text == kEveryEngine)
    return fail(option, raw, "is no reference; name an engine, a built-in model or a file");
  const bool model = find_file_type(raw.text) || find_model(raw.text);
  return outputs || model ? Converted{raw.text, {}} : convert_engine(option, raw, names);
}

Converted convert_shapes(const Option&, const RawValue& raw) try {
  static_cast<void>(parse_input_shapes(raw.text));
  return {raw.text, {}};
} catch (const Error& error) {
  return fail(error.what());
}

}  // namespace

Converted convert(const Option& option, const RawValue& raw, const NameSpace& names) {
  if (raw.text.empty())
    return fail(option, raw, fmt::format("is empty; {} belongs here", expected_text(option)));
  if (raw.text.find('\0') != std::string::npos)
    return fail(option, raw, "holds a NUL character, at which the system would cut it");
  switch (option.type) {
    case OptionType::kInteger:
      return convert_integer(option, raw);
    case OptionType::kNumber:
      return convert_number(option, raw);
    case OptionType::kBoolean:
      return convert_boolean(option, raw);
    case OptionType::kChoice:
      return convert_choice(option, raw);
    case OptionType::kChoiceOrFile:
      return convert_choice_or_file(option, raw);
    case OptionType::kBytes:
      return convert_bytes(option, raw);
    case OptionType::kModel:
      return convert_model(option, raw, names);
    case OptionType::kEngine:
      return convert_engine(option, raw, names);
    case OptionType::kReference:
      return convert_reference(option, raw, names);
    case OptionType::kShapes:
      return convert_shapes(option, raw);
    case OptionType::kExpression:
    case OptionType::kText:
      break;
  }
  return convert_text(option, raw);
}

bool names_a_device(const Option& option) {
  return option.name == "device";
}

bool is_default(const Option& option, const std::vector<Value>& values) {
  const auto parts = split(option.fallback, ',');
  const auto same = [&](const Value& value, const std::string& text) {
    return value_text(value) == text || convert(option, {text, {}, false}).value == value;  // 1e-8 is 1e-08
  };
  return values.empty() || (!option.fallback.empty() &&
                            std::equal(values.begin(), values.end(), parts.begin(), parts.end(), same));
}

bool has_owner(const Settings& settings, const Option& option) {
  return std::ranges::any_of(settings.list(option.owner.option),
                             [&](const Value& value) { return value_text(value) == option.owner.name; });
}

void set_owned_default(Settings& settings, const Option& option) {
  if (option.fallback.empty() || settings.has(option.name) || !has_owner(settings, option)) return;
  settings.set(option.name, convert(option, {std::string(option.fallback), {}, false}).value.value());
}

std::string expected_text(const Option& option) {
  switch (option.type) {
    case OptionType::kInteger:
      return "a whole number";
    case OptionType::kNumber:
      return "a number";
    case OptionType::kBoolean:
      return "true or false";
    case OptionType::kChoice:
      return "one of " + choices_text(option);
    case OptionType::kChoiceOrFile:
      return fmt::format("one of {}, or a file", choices_text(option));
    case OptionType::kBytes:
      return "a size such as 8, 64K or 256M";
    case OptionType::kModel:
      return "a model's name or file";
    case OptionType::kEngine:
      return "an engine's name";
    case OptionType::kReference:
      return "an engine's name, a model file, or a .npy or .npz file of outputs";
    case OptionType::kShapes:
      return "shapes such as input:8x3x224x224";
    case OptionType::kExpression:
    case OptionType::kText:
      break;
  }
  return "text";
}

}  // namespace paceline::config
