// SPDX-License-Identifier: MIT
#include "config/option_table.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array<Shorthand, 13> kShorthands{{
    {"channels_last", "true", "layouts", "channels_last"},
    {"channels_last", "false", "layouts", "contiguous"},
    {"model.channels_last", "true", "layouts", "channels_last"},
    {"model.channels_last", "false", "layouts", "contiguous"},
    {"--channels-last", "true", "layouts", "channels_last"},
    {"--fp16", "true", "precisions", "fp16"},
    {"--amp", "true", "precisions", "amp"},
    {"--bf16", "true", "precisions", "bf16"},
    {"--int8", "true", "precisions", "int8"},
    {"benchmark.evaluate_after", "true", "eval.every_epochs", "1"},
    {"benchmark.evaluate_after", "false", "eval.every_epochs", "0"},
    {"--noDataTransfers", "true", "io", "none"},
    {"--includeDataTransfers", "true", "io", "pinned"},
}};

bool listed(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t comma = std::min(names.find(','), names.size());
    if (names.substr(0, comma) == name) return true;
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return false;
}

std::vector<std::string> names_of(std::string_view names) {
  return names.empty() ? std::vector<std::string>{} : split(names, ',');
}

// "--t_max" and "--t-max" are the same flag.
std::string dashed(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

// The spellings that commands have besides.
std::vector<std::string> own_flags(const Option& option, unsigned commands) {
  std::vector<std::string> own;
  for (const auto& kind : kOwnFlags) {
    const auto command = command_of(kind.kind);
    if ((command & commands) == 0 || !serves(option, command)) continue;
    for (const auto& row : kind.flags())
      if (row.option == option.name)
        for (auto& flag : split(row.flags, ',')) own.push_back(std::move(flag));
  }
  return own;
}

bool keeps_letter(const Option& option, std::string_view flag, unsigned command) {
  const auto* row = find_command_row(command);
  return !row || !row->own_letters || flag.size() != 2 || option.commands == kAnyCommand;
}

bool has_flag(const Option& option, std::string_view flag, unsigned command) {
  if (listed(option.flags, flag) && keeps_letter(option, flag, command)) return true;
  const auto own = own_flags(option, command);
  if (std::ranges::any_of(own, [&](const auto& one) { return dashed(one) == dashed(flag); })) return true;
  if (!flag.starts_with("--")) return false;
  const std::string key = dashed(flag.substr(2));
  if (key == dashed(option.name) || listed(dashed(option.flags), "--" + key)) return true;
  return listed(dashed(option.aliases), key);
}

// Fills in what a row leaves open from its group.
OptionGroup group(const GroupRow& row, std::span<const Option> options) {
  OptionGroup made{row.title, {options.begin(), options.end()}};
  for (Option& option : made.options) {
    if (option.kinds == kOfGroup) option.kinds = row.kinds;
    if (option.commands == kOfGroup) option.commands = row.commands;
  }
  return made;
}

template <typename Matches>
const Option* find_if(Matches matches) {
  for (const auto& group : option_groups())
    for (const auto& option : group.options)
      if (matches(option)) return &option;
  return nullptr;
}

std::span<OptionGroup> table() {
  static auto groups = [] {
    std::vector<OptionGroup> made;
    for (const auto& row : kGroups) made.push_back(group(row, row.rows()));
    return made;
  }();
  return groups;
}

// Its words come before those of train.
const Option* find_profile_flag(std::string_view flag) {
  return find_if([&](const Option& o) { return o.commands == kProfile && has_flag(o, flag, kProfile); });
}

}  // namespace

std::span<const OptionGroup> option_groups() {
  return table();
}

void set_declared_rows(std::span<const Option> rows) {
  const auto row = std::ranges::find(kGroups, kDeclaredTitle, &GroupRow::title);
  table()[static_cast<std::size_t>(row - kGroups.begin())] = group(*row, rows);
}

void set_choices(std::string_view option, unsigned commands, std::span<const Choice> choices) {
  for (auto& group : table())
    for (auto& row : group.options)
      if (row.name == option && (row.commands & commands) != 0) {
        row.choices = choices;
        row.fallback = choices.empty() ? "" : choices.front().name;
      }
}

std::vector<const Option*> options_of(unsigned kinds) {
  std::vector<const Option*> found;
  for (const auto& group : option_groups())
    for (const auto& option : group.options)
      if ((option.kinds & kinds) != 0) found.push_back(&option);
  return found;
}

const Option* find_option(std::string_view key, unsigned kinds) {
  return find_if(
      [&](const Option& o) { return (o.kinds & kinds) != 0 && (o.name == key || listed(o.aliases, key)); });
}

const Option* find_flag(std::string_view flag, unsigned command) {
  if ((command & kProfile) != 0)
    if (const Option* own = find_profile_flag(flag)) return own;
  return find_if([&](const Option& o) { return serves(o, command) && has_flag(o, flag, command); });
}

bool serves(const Option& option, unsigned command) {
  if ((option.commands & command) == 0) return false;
  const auto* row = find_command_row(command);
  const unsigned kinds = row && row->kinds != 0 ? row->kinds : kAnyKind;
  return (option.kinds & (kinds | kPlanLevel | kCommandLine)) != 0;
}

bool is_of_each_process(std::string_view flag, unsigned command) {
  for (const auto& kind : kOwnFlags)
    if ((command_of(kind.kind) & command) != 0)
      for (const auto& row : kind.flags())
        if (row.of_each_process && listed(row.flags, flag)) return true;
  return false;
}

std::string_view singular(const Option& option) {
  if (option.form != OptionForm::kAxis || option.aliases.empty()) return option.name;
  const auto first = option.aliases.substr(0, option.aliases.find(','));
  return first.find('.') == std::string_view::npos ? first
                                                   : option.name;  // a key of a section is another name
}

std::vector<std::string> alias_names(const Option& option) {
  return names_of(option.aliases);
}

std::vector<std::string> flag_names(const Option& option, unsigned command) {
  std::vector<std::string> flags{"--" + (option.name.find('.') == std::string_view::npos
                                             ? dashed(option.name)
                                             : std::string(option.name))};
  for (auto& flag : names_of(option.flags))
    if (keeps_letter(option, flag, command)) flags.push_back(std::move(flag));
  for (auto& flag : own_flags(option, command)) flags.push_back(std::move(flag));
  if ((command & kProfile) != 0 && option.commands != kProfile)
    std::erase_if(flags, [](const std::string& flag) { return find_profile_flag(flag) != nullptr; });
  return flags;
}

std::string kinds_text(unsigned kinds) {
  std::vector<std::string> names;
  for (const auto& row : kWorkloadKinds)
    if (kinds & kind_bit(row.kind)) names.emplace_back(row.name);
  if (kinds & kPlanLevel) names.emplace_back("plan");
  if (kinds & kCommandLine) names.emplace_back("command line");
  return join(names, ", ");
}

std::string choices_text(const Option& option) {
  std::vector<std::string> names;
  for (const auto& choice : option.choices)
    if (choice.available) names.emplace_back(choice.name);
  return join(names, ", ");
}

std::span<const Shorthand> shorthands() {
  return kShorthands;
}

}  // namespace paceline::config
