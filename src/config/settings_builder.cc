// SPDX-License-Identifier: MIT
#include "config/settings_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "base/display_text.h"
#include "base/lower_case.h"
#include "base/text.h"
#include "config/case.h"
#include "config/plan_reader.h"

namespace paceline::config {
namespace {

constexpr std::string_view kBaseline = "baseline";

bool is_variable_name(std::string_view name) {
  const auto legal = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), legal);
}

// "all", of an axis of choices, stands for every one of them, as in nccl-tests.
RawSetting with_all_choices(const Option& option, RawSetting raw) {
  if (!option.takes_all() || raw.values.size() != 1) return raw;
  const RawValue all = raw.values.front();
  if (lower_case(all.text) != "all") return raw;
  raw.values.clear();
  for (const auto& choice : option.choices)
    if (choice.available) raw.values.push_back({std::string(choice.name), all.place, all.quoted});
  return raw;
}

class Builder {
 public:
  Builder(unsigned kinds, const NameSpace& names, std::vector<Diagnostic>& problems)
      : kinds_(kinds), names_(names), problems_(problems) {}

  void add(const RawSetting& raw) {
    const Option* option = row_of(raw.name, kinds_);
    if (!option)
      return report(raw.place,
                    fmt::format("'{}' has no meaning here{}", raw.written, key_hint(raw.name, kinds_)));
    if (option->is_map()) return add_named(*option, raw);
    if (raw.values.size() > 1 && !option->is_axis() && option->form != OptionForm::kList)
      return report(raw.place,
                    fmt::format("a list where {} belongs, in '{}'", expected_text(*option), raw.written));
    set(std::string(option->name), *option, with_all_choices(*option, raw));
  }

  Settings finish() {
    for (const Option* option : options_of(kinds_))
      if (!option->fallback.empty() && option->owner.option.empty() && !settings_.has(option->name))
        set_fallback(*option);
    return std::move(settings_);
  }

 private:
  void report(const Place& place, std::string message) {
    problems_.push_back(diagnostic(place, std::move(message)));
  }

  void add_named(const Option& option, const RawSetting& raw) {
    const std::string name = raw.name.substr(std::min(raw.name.size(), option.name.size() + 1));
    if (option.name == kBaseline) return add_baseline(name, raw);
    if (!is_variable_name(name))
      return report(raw.place,
                    fmt::format("'{}' is no name of an environment variable (letters, digits, _)", name));
    if (option.name == "env" && !fits_environment(name, raw)) return;
    Option row = option;
    row.name = raw.name;
    set(raw.name, row, raw);
  }

  // The kernel refuses to start a program with a longer variable.
  bool fits_environment(const std::string& name, const RawSetting& raw) {
    constexpr std::size_t kLongest = 131'072 - 2;  // without '=' and the end
    const auto too_long = std::find_if(raw.values.begin(), raw.values.end(), [&](const auto& value) {
      return name.size() + value.text.size() > kLongest;
    });
    if (too_long == raw.values.end()) return true;
    report(too_long->place, fmt::format("{} has a value of {} bytes; the system takes environment variables "
                                        "up to {} bytes, name included",
                                        raw.written, too_long->text.size(), kLongest));
    return false;
  }

  // A baseline names axes; its values convert as those of the axes do.
  void add_baseline(const std::string& name, const RawSetting& raw) {
    const Option* axis = row_of(name, kinds_);
    if (!axis || !axis->is_axis())
      return report(raw.place, fmt::format("baseline names the axis '{}', which this workload does not have "
                                           "(model, engine, precision, batch, threads, layout, …)",
                                           name));
    if (raw.values.size() != 1) return report(raw.place, fmt::format("baseline '{}' takes one value", name));
    set(fmt::format("{}.{}", kBaseline, axis->is_map() ? name : std::string(singular(*axis))), *axis, raw);
  }

  void set(const std::string& name, const Option& option, const RawSetting& raw) {
    if (raw.values.size() > kMaxCases)
      return report(raw.place, fmt::format("'{}' lists {} values, and a plan has at most {} cases",
                                           raw.written, raw.values.size(), kMaxCases));
    std::vector<Value> values;
    std::set<Value> seen;
    Option named = option;  // messages name it as the plan does
    if (!raw.on_command_line) named.name = raw.written, named.aliases = {};
    for (const auto& value : raw.values) {
      auto converted = convert(named, value, names_);
      if (!converted.value) {
        report(value.place, std::move(converted.problem));
      } else if (!seen.insert(*converted.value).second && !option.by_place) {
        report(value.place,
               fmt::format("'{}' is listed twice in '{}'", shown_value(value.text), raw.written));
      } else {
        values.push_back(std::move(*converted.value));
      }
    }
    if (!values.empty()) settings_.set_list(name, std::move(values));
  }

  void set_fallback(const Option& option) {
    std::vector<Value> values;
    const bool many = option.is_axis() || option.form == OptionForm::kList;
    for (const auto& text : many ? split(option.fallback, ',') : std::vector{std::string(option.fallback)})
      values.push_back(convert(option, {text, {}, false}).value.value());
    settings_.set_list(option.name, std::move(values));
  }

  unsigned kinds_;
  const NameSpace& names_;
  std::vector<Diagnostic>& problems_;
  Settings settings_;
};

}  // namespace

Settings build_settings(std::span<const RawSetting> raw, unsigned kinds, const NameSpace& names,
                        std::vector<Diagnostic>& problems) {
  Builder builder(kinds, names, problems);
  for (const auto& setting : raw) builder.add(setting);
  return builder.finish();
}

}  // namespace paceline::config
