// SPDX-License-Identifier: MIT
#include "cli/man_page.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "cli/command_table.h"
#include "cli/exit_rules.h"
#include "cli/shell_words.h"
#include "cli/version.h"
#include "config/option_table.h"

namespace paceline::cli {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;
constexpr std::array kCharacters{Pair{"\\", "\\e"}, Pair{"-", "\\-"},  Pair{"…", "..."}, Pair{"–", "\\-"},
                                 Pair{"×", "x"},    Pair{"±", "+\\-"}, Pair{"≥", ">="},  Pair{"≤", "<="}};

std::string_view head_of(std::string_view text, const Pair*& found) {
  for (const auto& pair : kCharacters)
    if (text.starts_with(pair.first)) return found = &pair, pair.second;
  return text.substr(0, 1);
}

// Escapes text for roff: special characters, and lines that would begin with a request.
std::string roff(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Pair* found = nullptr;
    out += head_of(text, found);
    text.remove_prefix(found ? found->first.size() : 1);
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string tagged(std::string_view head, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(head), roff(text));
}

std::string option_text(const config::Option& option) {
  std::string text(option.help);
  const auto values = values_of(option);
  if (!values.empty()) text += fmt::format(" One of: {}.", join(values, ", "));
  if (!option.fallback.empty()) text += fmt::format(" Default: {}.", option.fallback);
  return text;
}

std::string commands_of(const config::Option& option) {
  std::vector<std::string> names;
  for (const auto& command : commands())
    if (command.flags != 0 && config::serves(option, command.flags)) names.emplace_back(command.name);
  return join(names, ", ");
}

std::string option_entries() {
  std::string text;
  for (const auto& group : config::option_groups()) {
    std::string entries;
    for (const auto& option : group.options) {
      if (!option.available || option.commands == 0) continue;
      entries += tagged(join(config::flag_names(option), ", "),
                        fmt::format("{} Commands: {}.", option_text(option), commands_of(option)));
    }
    if (!entries.empty()) text += fmt::format(".SS {}\n{}", roff(group.title), entries);
  }
  return text;
}

std::string command_entries() {
  std::string text;
  for (const auto& command : commands())
    if (!command.summary.empty())
      text += tagged(fmt::format("paceline {} {}", command.name, command.usage), command.summary);
  return text;
}

std::string exit_entries() {
  std::string text;
  for (const auto& [code, meaning] : exit_meanings())
    text += tagged(std::to_string(static_cast<int>(code)), meaning);
  return text;
}

}  // namespace

std::string man_page() {
  return fmt::format(
      ".TH PACELINE 1 \"\" \"paceline {}\" \"User Commands\"\n.SH NAME\npaceline \\- measure deep\\-learning "
      "inference and training\n.SH SYNOPSIS\n.B paceline\nCOMMAND [options]\n.SH DESCRIPTION\nMeasures "
      "latency and throughput of models, with intervals, accuracy checks and reasons.\nLists are written "
      "1,8; a plan in YAML names the same options.\n.SH COMMANDS\n{}.SH OPTIONS\n{}.SH \"EXIT "
      "STATUS\"\n{}.SH \"SEE ALSO\"\nThe pages in share/doc/paceline, and paceline schema, which prints the "
      "same tables.\n",
      suite().version, command_entries(), option_entries(), exit_entries());
}

}  // namespace paceline::cli
