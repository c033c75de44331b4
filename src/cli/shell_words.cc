// SPDX-License-Identifier: MIT
#include "cli/shell_words.h"

#include <algorithm>

#include "cli/command_table.h"
#include "config/flags.h"
#include "config/value.h"
#include "config/vocabulary.h"

namespace paceline::cli {
namespace {

using config::Option;
using config::OptionType;

template <typename Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& model : config::models())
    if (!model.internal) names.emplace_back(model.name);
  return names;
}

// The first clause.
std::string few_words(std::string_view help) {
  std::string text(help.substr(0, help.find_first_of(";:(")));
  if (const auto stop = text.find(". "); stop != std::string::npos) text.resize(stop);
  std::erase_if(text, [](char c) { return std::string_view("'\"`$\\[]").find(c) != std::string_view::npos; });
  while (!text.empty() && (text.back() == '.' || text.back() == ' ' || text.back() == ',')) text.pop_back();
  return text;
}

void add_missing(std::vector<std::string>& names, std::vector<std::string> more) {
  for (auto& name : more)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
}

// Where a plan may hold an option of inference and one of training by the same name, their values are joined.
void add_flag(std::vector<FlagWords>& flags, const Option& option, unsigned command) {
  auto spellings = config::flag_names(option, command);
  auto values = values_of(option), listed = config::listed_flags(option, command);
  const auto same = std::find_if(flags.begin(), flags.end(), [&](const FlagWords& f) {
    return f.spellings.front() == spellings.front();
  });
  if (same != flags.end()) {
    add_missing(same->spellings, std::move(spellings));
    add_missing(same->offered, std::move(listed));
    return add_missing(same->values, std::move(values));
  }
  flags.push_back({std::move(spellings), std::move(listed), std::move(values), few_words(option.help),
                   option.type != OptionType::kBoolean,
                   option.is_axis() || option.form == config::OptionForm::kList});
}

std::vector<std::string> words_of(const Command& command) {
  if (command.run == schema_command) return schema_topics();
  if (command.run == completion_command) return completion_shells();
  return {};
}

}  // namespace

std::vector<std::string> values_of(const Option& option) {
  std::vector<std::string> names;
  if (option.type == OptionType::kEngine || option.type == OptionType::kReference)
    return names_of(config::engines());
  if (option.type == OptionType::kModel) return model_names();
  if (config::names_a_device(option)) {
    names = {"cpu", "cuda"};
    if (option.fallback == "auto") names.emplace_back("auto");
  }
  for (const auto& choice : option.choices)
    if (choice.available) names.emplace_back(choice.name);
  return names;
}

std::vector<CommandWords> shell_commands() {
  std::vector<CommandWords> out;
  for (const auto& command : commands()) {
    if (command.summary.empty()) continue;
    CommandWords words{{std::string(command.name)}, few_words(command.summary), {}, words_of(command)};
    if (!command.alias.empty()) words.names.emplace_back(command.alias);
    for (const auto& group : config::option_groups())
      for (const auto& option : group.options)
        if (option.available && config::serves(option, command.flags))
          add_flag(words.flags, option, command.flags);
    out.push_back(std::move(words));
  }
  return out;
}

}  // namespace paceline::cli
