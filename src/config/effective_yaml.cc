// SPDX-License-Identifier: MIT
// Writes a plan as YAML with every default written out.
#include <fmt/format.h>

#include <algorithm>

#include "base/lower_case.h"
#include "base/text.h"
#include "config/plan.h"
#include "config/plan_reader.h"

namespace paceline::config {
namespace {

bool is_plain(std::string_view text) {
  const auto legal = [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' || c == '/';
  };
  if (text.empty() || lower_case(text[0]) < 'a' || lower_case(text[0]) > 'z') return false;
  return std::all_of(text.begin(), text.end(), legal);
}

// Words that a YAML reader does not take for text.
bool is_reserved(std::string_view text) {
  for (const std::string_view word :
       {"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"})
    if (text.size() == word.size() &&
        std::equal(text.begin(), text.end(), word.begin(), [](char a, char b) { return lower_case(a) == b; }))
      return true;
  return false;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (code < 0x20 || code == 0x7f)
      out += fmt::format("\\x{:02x}", code);
    else
      out += c;
  }
  return out + '"';
}

std::string scalar(const Value& value) {
  std::string text = value_text(value);
  if (!std::holds_alternative<std::string>(value)) return text;
  return is_plain(text) && !is_reserved(text) ? text : in_quotes(text);
}

std::string rendered(const Option& option, const std::vector<Value>& values) {
  if (!option.is_axis() && option.form != OptionForm::kList) return scalar(values.front());
  std::vector<std::string> items;
  items.reserve(values.size());
  for (const auto& value : values) items.push_back(scalar(value));
  return fmt::format("[{}]", join(items, ", "));
}

// Writes keys with a common section under it; the order of the option table keeps them together.
class Writer {
 public:
  explicit Writer(std::string indent) : indent_(std::move(indent)) {}

  void add(std::string_view name, const std::string& text) {
    const std::size_t dot = name.find('.');
    const std::string section(dot == std::string_view::npos ? "" : name.substr(0, dot));
    if (section.empty()) {
      out_ += fmt::format("{}{}: {}\n", indent_, name, text);
    } else {
      if (section != section_) out_ += fmt::format("{}{}:\n", indent_, section);
      const std::string key(name.substr(dot + 1));
      out_ += fmt::format("{}  {}: {}\n", indent_, is_plain(key) && !is_reserved(key) ? key : in_quotes(key),
                          text);
    }
    section_ = section;
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::string indent_, out_, section_;
};

void add_map(Writer& writer, const Option& option, const Settings& settings) {
  for (const auto& [name, values] : settings.all())
    if (name.starts_with(fmt::format("{}.", option.name)))
      writer.add(name, option.is_axis() ? rendered(option, values) : scalar(values.front()));
}

std::string settings_yaml(const Settings& settings, unsigned kinds, const std::string& indent) {
  Writer writer(indent);
  for (const Option* option : options_of(kinds)) {
    if (option->is_map())
      add_map(writer, *option, settings);
    else if (settings.has(option->name))
      writer.add(option->name, rendered(*option, settings.list(option->name)));
  }
  return writer.text();
}

}  // namespace

std::string effective_yaml(const Plan& plan) {
  std::string out = settings_yaml(plan.settings, kPlanLevel, "") + "workloads:\n";
  for (const auto& workload : plan.workloads) {
    std::string body = settings_yaml(workload.settings, kind_bit(workload.kind), "    ");
    body[2] = '-';
    out += body;
  }
  return out;
}

}  // namespace paceline::config
