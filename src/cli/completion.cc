// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>

#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/command_table.h"
#include "cli/shell_words.h"

namespace paceline::cli {
namespace {

// "infer --engine"|"infer --engines"
std::string bash_keys(const CommandWords& command, const FlagWords& flag) {
  std::vector<std::string> keys;
  for (const auto& name : command.names)
    for (const auto& spelling : flag.spellings) keys.push_back(fmt::format("\"{} {}\"", name, spelling));
  return join(keys, " | ");
}

constexpr std::string_view kBashBody = R"bash(
_paceline() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= head= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then
      command=${COMP_WORDS[i]}
      break
    fi
  done
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W "$(_paceline_commands)" -- "$cur"))
    return
  fi
  # readline makes a word of its own of the '=' in --flag=value.
  if [[ $cur == "=" ]]; then
    cur=
  elif [[ $prev == "=" ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$(_paceline_flags "$command")" -- "$cur"))
    return
  fi
  if [[ $cur == *,* ]]; then
    head=${cur%,*},
  fi
  local values=$(_paceline_values "$command" "$prev")
  COMPREPLY=($(compgen -P "$head" -W "$values" -- "${cur##*,}"))
}
complete -o default -F _paceline paceline
)bash";

std::string bash_script() {
  std::string commands, flags, values;
  for (const auto& command : shell_commands()) {
    commands += (commands.empty() ? "" : " ") + join(command.names, " ");
    std::vector<std::string> names;
    for (const auto& flag : command.flags) {
      names.insert(names.end(), flag.offered.begin(), flag.offered.end());
      if (!flag.values.empty())
        values += fmt::format("    {}) echo \"{}\" ;;\n", bash_keys(command, flag), join(flag.values, " "));
    }
    flags += fmt::format("    {}) echo \"{}\" ;;\n", join(command.names, " | "), join(names, " "));
    if (!command.words.empty())
      values += fmt::format("    \"{} {}\") echo \"{}\" ;;\n", command.names.front(), command.names.front(),
                            join(command.words, " "));
  }
  return fmt::format(
             "# Completion of paceline in bash, written by `paceline completion bash`.\n_paceline_commands() "
             "{{\n  echo \"{}\"\n}}\n_paceline_flags() {{\n  case $1 in\n{}  esac\n}}\n# Values of an "
             "option, "
             "or what follows a command.\n_paceline_values() {{\n  case \"$1 $2\" in\n{}  esac\n}}",
             commands, flags, values) +
         std::string(kBashBody);
}

// The completion of the flag's value in the words of _arguments.
std::string zsh_value(const FlagWords& flag) {
  if (!flag.takes_value) return "";
  if (flag.values.empty()) return ":value:_files";
  if (flag.takes_list) return fmt::format(":value:_values -s , value {}", join(flag.values, " "));
  return fmt::format(":value:({})", join(flag.values, " "));
}

std::string zsh_script() {
  std::string commands, cases;
  for (const auto& command : shell_commands()) {
    for (const auto& name : command.names) commands += fmt::format("    '{}:{}'\n", name, command.help);
    cases += fmt::format("    {})\n      _arguments", join(command.names, " | "));
    for (const auto& flag : command.flags)
      for (const auto& name : flag.offered)
        cases += fmt::format(" \\\n        '*{}{}[{}]{}'", name,
                             !flag.takes_value        ? ""
                             : name.starts_with("--") ? "="
                                                      : "+",
                             flag.help, zsh_value(flag));
    cases += command.words.empty() ? std::string(" \\\n        '*:file:_files'\n")
                                   : fmt::format(" \\\n        '*:word:({})'\n", join(command.words, " "));
    cases += "      ;;\n";
  }
  return fmt::format(
      "#compdef paceline\n# Completion of paceline in zsh, written by `paceline completion "
      "zsh`.\n_paceline() "
      "{{\n  local -a commands\n  commands=(\n{}  )\n  if ((CURRENT == 2)); then\n    _describe -t commands "
      "command commands\n    return\n  fi\n  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case "
      "$command in\n{}  esac\n}}\nif [[ $funcstack[1] == _paceline ]]; then\n  _paceline \"$@\"\nelse\n  "
      "compdef _paceline paceline\nfi\n",
      commands, cases);
}

std::string fish_flag(const std::string& condition, const FlagWords& flag) {
  std::string line = fmt::format("complete -c paceline -n '{}'", condition);
  for (const auto& name : flag.offered)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!flag.values.empty())
    line += fmt::format(" -r -a '{}'", join(flag.values, " "));
  else if (flag.takes_value)
    line += " -r -F";
  return line + fmt::format(" -d '{}'\n", flag.help);
}

std::string fish_script() {
  std::string text = "# Completion of paceline in fish, written by `paceline completion fish`.\n";
  for (const auto& command : shell_commands()) {
    for (const auto& name : command.names)
      text +=
          fmt::format("complete -c paceline -f -n __fish_use_subcommand -a {} -d '{}'\n", name, command.help);
    const auto condition = fmt::format("__fish_seen_subcommand_from {}", join(command.names, " "));
    for (const auto& flag : command.flags)
      if (!flag.offered.empty()) text += fish_flag(condition, flag);
    if (!command.words.empty())
      text += fmt::format("complete -c paceline -f -n '{}' -a '{}'\n", condition, join(command.words, " "));
  }
  return text;
}

struct Shell {
  std::string_view name;
  std::string (*make)();
};
constexpr std::array kShells{Shell{"bash", bash_script}, Shell{"zsh", zsh_script},
                             Shell{"fish", fish_script}};

}  // namespace

std::vector<std::string> completion_shells() {
  std::vector<std::string> names;
  for (const auto& shell : kShells) names.emplace_back(shell.name);
  return names;
}

std::string completion_script(const std::string& shell) {
  for (const auto& row : kShells)
    if (row.name == shell) return row.make();
  throw Error(ErrorCode::kUsage, fmt::format("no completion for the shell '{}'; there are: {}",
                                             shown_value(shell), join(completion_shells(), ", ")));
}

ExitCode completion_command(const Context& context) {
  if (context.arguments.size() != 1)
    throw Error(ErrorCode::kUsage,
                fmt::format("completion takes the name of one shell: paceline completion {}",
                            join(completion_shells(), " | ")));
  print(stdout, completion_script(context.arguments.front()));
  return ExitCode::kOk;
}

}  // namespace paceline::cli
