// SPDX-License-Identifier: MIT
// Writes the `--help` of a command from the option rows.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/flags.h"
#include "config/option_table.h"

namespace paceline::config {
namespace {

constexpr std::size_t kColumn = 32, kNarrowColumn = 8;  // of the descriptions
constexpr std::size_t kNarrow = 70;                     // below it they begin further left

std::string_view placeholder(const Option& option) {
  switch (option.type) {
    case OptionType::kInteger:
      return "N";
    case OptionType::kNumber:
      return "X";
    case OptionType::kBytes:
      return "SIZE";
    case OptionType::kBoolean:
      return "";
    default:
      return option.is_map() ? "NAME=VALUE" : "TEXT";
  }
}

bool is_of_this_house(const std::string& flag) {
  return flag.starts_with("--") &&
         std::none_of(flag.begin(), flag.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

// A key that other help texts name as it is: concurrency, not batch_sizes or training.lr.
bool is_plain_key(const Option& option) {
  return singular(option) == option.name && option.name.find_first_of("._") == std::string_view::npos;
}

// Picks the spelling with two dashes that the first column shows.
std::string shown_flag(const Option& option, unsigned command) {
  const auto names = flag_names(option, command);
  // One of our own words: those of other tools are accepted too, but only the reference lists them.
  const auto familiar = std::find_if(names.begin() + 1, names.end(), is_of_this_house);
  const bool has_plan = (command & (kRunsCases & ~kTrain)) != 0;  // whose keys people write in files, too
  const bool shorter = (option.is_axis() || !has_plan) && !is_plain_key(option);
  return shorter && familiar != names.end() ? *familiar : names.front();
}

// Words of training scripts that mean the same, without the key of the plan.
std::vector<std::string> other_names(const Option& option, unsigned command) {
  std::vector<std::string> others;
  if ((command & kTrain) == 0) return others;
  const auto names = flag_names(option, command);
  const auto shown = shown_flag(option, command);
  for (auto name = names.begin() + 1; name < names.end(); ++name)
    if (is_of_this_house(*name) && *name != shown) others.push_back(*name);
  return others;
}

// A sentence with these names, and with switches for one of its values.
std::string other_flags(const Option& option, unsigned command) {
  if ((command & kTrain) == 0) return {};
  auto others = other_names(option, command);
  for (const auto& row : shorthands())
    if (row.option == option.name && row.when == "true" && row.key.starts_with("--") &&
        std::any_of(option.choices.begin(), option.choices.end(),
                    [&](const Choice& c) { return c.available && c.name == row.value; }))
      others.push_back(fmt::format("{} ({})", row.key, row.value));
  return others.empty() ? "" : fmt::format(" Also: {}.", join(others, ", "));
}

std::vector<std::string> short_names(const Option& option, unsigned command) {
  auto names = flag_names(option, command);
  std::erase_if(names, [](const auto& name) { return name.size() != 2; });
  return names;
}

std::string flag_column(const Option& option, unsigned command) {
  std::string shorts;
  for (const auto& name : short_names(option, command)) shorts += name + ", ";
  const auto value = placeholder(option);
  std::string column = "  " + shorts + shown_flag(option, command);
  if (!value.empty()) column += fmt::format(" {}{}", value, option.form == OptionForm::kAxis ? ",…" : "");
  return column;
}

std::string description(const Option& option, unsigned command) {
  std::string text(option.help);
  if (option.type == OptionType::kChoice) text += fmt::format(" ({})", choices_text(option));
  if (!option.fallback.empty() && option.type != OptionType::kBoolean)
    text += fmt::format(" [{}{}{}]", option.fallback, option.unit.empty() ? "" : " ", option.unit);
  if (option.type == OptionType::kBoolean && option.fallback == "true")
    text += fmt::format(" [true; off: --no-{}]", shown_flag(option, command).substr(2));
  return text;
}

// Counts characters, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// A default in brackets is one word, so that its unit stays beside it.
std::vector<std::string> unbroken_words(const std::string& text) {
  std::vector<std::string> words;
  for (auto& word : split(text, ' ')) {
    const bool inside = !words.empty() && words.back().starts_with('[') && !words.back().ends_with(']');
    if (inside)
      words.back() += " " + word;
    else
      words.push_back(std::move(word));
  }
  return words;
}

std::string wrapped(const std::string& head, const std::string& text, std::size_t width) {
  const std::size_t begin = width < kNarrow ? kNarrowColumn : kColumn;
  std::string out = head;
  std::size_t column = width_of(head);
  const auto new_line = [&] {
    out += "\n" + std::string(begin, ' ');
    column = begin;
  };
  if (column + 2 > begin) {
    new_line();
  } else {
    out.append(begin - column, ' ');
    column = begin;
  }
  for (const auto& word : unbroken_words(text)) {
    if (column > begin && column + 1 + width_of(word) > width) new_line();
    if (column > begin) out += ' ', ++column;
    out += word;
    column += width_of(word);
  }
  return out + "\n";
}

// `run` only mentions that keys of the plan can be overridden; `paceline schema` lists them.
bool listed_in_help(const Option& option, unsigned command) {
  if (!serves(option, command) || !option.available) return false;
  return command != kRun || (option.kinds & kAnyKind) == 0;
}

}  // namespace

std::vector<std::string> listed_flags(const Option& option, unsigned command) {
  if (!listed_in_help(option, command)) return {};
  auto flags = short_names(option, command);
  flags.push_back(shown_flag(option, command));
  for (auto& name : other_names(option, command)) flags.push_back(std::move(name));
  return flags;
}

std::string render_help(unsigned command, std::size_t width) {
  std::string out;
  for (const auto& group : option_groups()) {
    std::string lines;
    for (const auto& option : group.options)
      if (listed_in_help(option, command))
        lines += wrapped(flag_column(option, command),
                         description(option, command) + other_flags(option, command), width);
    if (!lines.empty()) out += fmt::format("{}{}:\n{}", out.empty() ? "" : "\n", group.title, lines);
  }
  if (command == kRun)
    out +=
        "\nAny key of the plan:\n" +
        wrapped("  --section.key=VALUE",
                "Overrides it, e.g. --batch 1,8 or --stop.t_max_s=5 (`paceline schema` lists them).", width);
  return out;
}

}  // namespace paceline::config
