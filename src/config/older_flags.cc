// SPDX-License-Identifier: MIT
#include "config/older_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "config/key_remarks.h"
#include "config/older_flag_rows.h"
#include "config/option_table.h"

namespace paceline::config {
namespace {

constexpr std::array kOlderCommands{
    OlderCommand{"analyze", "paceline report --source DIR"},
    OlderCommand{"list", "paceline schema options"},
    OlderCommand{"convert", "`paceline export`, or `paceline build` for a file of one engine"},
};

bool serves(const OlderFlag& row, unsigned command) {
  return (row.command & (command == kRun ? kRunsCases : command)) != 0;
}

std::string in_code(std::string_view here) {
  const bool is_code = here.starts_with("--") || here.starts_with("paceline ");
  return is_code ? fmt::format("`{}`", here) : std::string(here);
}

// With code in backticks, as on the page: "`paceline infer --iterations N`" where the command is another.
std::string marked(const OlderFlag& row, std::string_view value, unsigned command) {
  std::string text = in_code(row.here);
  if (!serves(row, command) && text.starts_with("`--"))
    text.insert(1, fmt::format("paceline {} ", command_name(row.command)));
  if (const auto list = text.find("LIST"); list != std::string::npos) {
    const auto values = list_of_range(value);
    text.replace(list, 4, values.empty() ? "1,2,3,4" : values);
  }
  return text;
}

std::string plain(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '`'), text.end());
  return text;
}

// Underscores and dashes are equal inside a flag.
bool same_flag(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return x == y || ((x == '-' || x == '_') && (y == '-' || y == '_'));
  });
}

// Rows of the flag for the command, else all of them, unless another command has an option of that name or
// the flag is a letter, which means something else to each tool. A plan accepts what infer and train accept.
std::vector<const OlderFlag*> rows_of(std::string_view flag, unsigned command) {
  std::vector<const OlderFlag*> own, all;
  for (const auto& row : older_flags()) {
    if (!same_flag(row.flag, flag)) continue;
    all.push_back(&row);
    if (serves(row, command)) own.push_back(&row);
  }
  if (own.empty() && (flag.size() == 2 || !command_with(flag).empty())) return {};
  return own.empty() ? all : own;
}

std::string in_table(std::string_view text) {
  return join(split(text, '|'), "\\|");
}

}  // namespace

std::span<const OlderFlag> older_flags() {
  static const std::vector<OlderFlag> kAll = [] {
    std::vector<OlderFlag> all;
    for (const auto& tool : kOlderTools) {
      const auto flags = tool.flags();
      all.insert(all.end(), flags.begin(), flags.end());
    }
    return all;
  }();
  return kAll;
}
std::span<const OlderCommand> older_commands() {
  return kOlderCommands;
}

std::string_view command_with(std::string_view flag) {
  for (const auto& row : kFlagCommands)
    if (find_flag(flag, row.bits)) return row.name;
  return {};
}

std::string_view command_name(unsigned command) {
  for (const auto& row : kFlagCommands)
    if ((row.bits & command) != 0) return row.name;
  return "";
}

std::string older_flag_message(std::string_view flag, std::string_view value, unsigned command) {
  struct Advice {
    std::string tools, here;
  };
  std::vector<Advice> found;
  for (const OlderFlag* row : rows_of(flag, command)) {
    auto here = plain(marked(*row, value, command));
    const auto same =
        std::find_if(found.begin(), found.end(), [&](const Advice& a) { return a.here == here; });
    if (same == found.end())
      found.push_back({std::string(row->tool), std::move(here)});
    else
      same->tools += fmt::format(", {}", row->tool);
  }
  std::string text;
  for (const auto& [tools, here] : found)
    text += fmt::format("{} ({}); here: {}", text.empty() ? "unknown option" : "; or", tools, here);
  return text;
}

bool agrees_with_older_flag(std::string_view flag, std::string_view value, unsigned command) {
  return std::ranges::any_of(rows_of(flag, command), [&](const OlderFlag* row) {
    const auto values = split(row->agrees, ',');
    if (!serves(*row, command)) return false;
    return row->agrees == kAnyValue || (!value.empty() && std::ranges::find(values, value) != values.end());
  });
}

std::string_view taken_value(std::string_view option, std::string_view value) {
  for (const auto& tool : kOlderTools)
    for (const auto& row : tool.values())
      if (row.taken && option.find(row.option) != std::string_view::npos && row.value == value)
        return row.here;
  return {};
}

std::string_view older_value(std::string_view option, std::string_view value) {
  for (const auto& tool : kOlderTools)
    for (const auto& row : tool.values())
      if (option.find(row.option) != std::string_view::npos && row.value == value) return row.here;
  return {};
}

std::string list_of_range(std::string_view text) {
  constexpr std::size_t kMost = 16;
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return "";
  const auto first = parse_int(parts[0]), last = parse_int(parts[1]);
  const auto step = parts.size() == 3 ? parse_int(parts[2]) : 1;
  if (!first || !last || !step || *step < 1 || *first > *last || *last > 1'000'000'000) return "";
  std::vector<std::string> values;
  for (auto value = *first; value <= *last && values.size() <= kMost; value += *step)
    values.push_back(std::to_string(value));
  return values.size() > kMost ? "" : join(values, ",");
}

std::string older_command_message(std::string_view name) {
  const auto row = std::find_if(kOlderCommands.begin(), kOlderCommands.end(),
                                [&](const OlderCommand& c) { return c.name == name; });
  return row == kOlderCommands.end() ? "" : plain(in_code(row->here));
}

std::string older_flags_markdown() {
  std::string text =
      "# Flags of other tools\n\nWritten by `paceline schema` from the table that the messages use. *As "
      "typed*: "
      "the flag of the other tool is taken, too. *Differs*: the flag is one of this tool, with another "
      "meaning.\n";
  std::string_view tool;
  for (const auto& row : older_flags()) {
    if (row.tool != tool)
      text += fmt::format("\n## {}\n\n| typed there | | write here |\n|---|---|---|\n", row.tool);
    tool = row.tool;
    constexpr std::array<std::string_view, 3> kSupport{"", "as typed", "differs"};
    const auto taken = row.agrees.empty() || row.agrees == kAnyValue
                           ? std::string(kSupport[static_cast<std::size_t>(row.support)])
                           : fmt::format("{} as typed", row.agrees);
    text += fmt::format("| `{}` | {} | {} |\n", row.flag, taken, in_table(marked(row, "", 0)));
  }
  text += key_remarks_markdown();
  text += "\n## Commands\n\n| typed there | write here |\n|---|---|\n";
  for (const auto& row : kOlderCommands)
    text += fmt::format("| `paceline {}` | {} |\n", row.name, in_table(in_code(row.here)));
  text += "\n## Values\n\n| option | typed there | write here |\n|---|---|---|\n";
  for (const auto& rows : kOlderTools)
    for (const auto& row : rows.values())
      text += fmt::format("| `--{}` | `{}` | {} |\n", row.option, row.value, row.here);
  return text;
}

}  // namespace paceline::config
