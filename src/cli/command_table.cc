// SPDX-License-Identifier: MIT
#include "cli/command_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "analysis/case_query.h"
#include "answer/text_layout.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/answer_output.h"
#include "cli/plugins.h"
#include "cli/version.h"
#include "config/flags.h"
#include "config/older_flags.h"
#include "config/option_table.h"
#include "config/vocabulary.h"
#include "report/format_table.h"

namespace paceline::cli {
namespace {

constexpr Command kRunPlan{"run",
                           "benchmark",
                           "PLAN.yaml [options] [--section.key=value …]",
                           "run the cases of a plan, write results and a report",
                           config::kRun,
                           run_cases};
constexpr std::array kOthers{
    Command{"profile", "", "[--model NAME] [options] | -c PLAN.yaml | --tool nsys|ncu infer|train [options]",
            "train, profile a few steps, and list what limits step time; or run a case under Nsight",
            config::kTrain | config::kProfile, profile_command},
    Command{"export", "", "--model NAME --output FILE [options]",
            "write a built-in model as ONNX or TorchScript, or an ONNX file in another precision",
            config::kExport, export_command},
    Command{"build", "", "--model FILE.onnx --engine NAME --output FILE [options]",
            "compile a model into the file of one engine: TensorRT, OpenVINO or AOTInductor", config::kBuild,
            build_command},
    Command{"validate", "", "[options]",
            "check whether this machine is fit to measure: PASS, WARN or FAIL, with a fix", config::kValidate,
            validate_command},
    Command{"compare", "",
            "RUN RUN [RUN …] | infer|train|comm|run OPTIONS --a WORDS --b WORDS | --command 'COMMAND A' "
            "'COMMAND B' [options]",
            "say whether the second side is slower than the first, by how much, and how certainly",
            config::kCompare, compare_command},
    Command{"tune", "", "[infer|train] --model NAME [options] [options of that command]",
            "find the settings with which a model is served or trained best here, in a race of all of them",
            config::kTune, tune_command},
    Command{"monitor", "", "[--serve HOST:PORT] [options]",
            "show CPUs, GPUs, memory, network, disks and runs of paceline, live", config::kMonitor,
            monitor_command},
    Command{"attach", "", "[options] -- COMMAND … | --path",
            "run a training job of your own, unchanged, and record where its steps spend their time",
            config::kAttach, attach_command},
    Command{"report", "", "[generate] --source DIR [options]",
            "render a stored run, or several side by side, as a page, charts, a table or data",
            config::kReport, report_command},
    Command{"history", "",
            "[list | tag RUN NAME | untag NAME | note RUN TEXT | pin RUN NAME | unpin NAME | trend | prune | "
            "import DIR … | export] [options]",
            "list, tag, prune and export stored runs, and show when a figure changed", config::kHistory,
            history_command},
    Command{"schema", "",
            "[options | older-flags | metrics | plan | engine-config | result | commands | exit-codes | man] "
            "[options]",
            "print the reference of options, metrics, file formats, commands and exit codes", config::kSchema,
            schema_command},
    Command{"completion", "", "bash | zsh | fish",
            "print a script for a shell that completes commands, options and their values", 0,
            completion_command},
    Command{"worker", "", "", "", 0, worker_command},
};

const std::vector<Command>& table() {
  static const auto kAll = [] {
    std::vector<Command> all{kRunPlan};
    for (const auto& kind : kWorkloadKinds)
      all.push_back({kind.command.name, "", kind.command.usage, kind.command.summary,
                     config::command_of(kind.kind), run_cases});
    all.insert(all.end(), kOthers.begin(), kOthers.end());
    return all;
  }();
  return kAll;
}

// Help is read in lines of moderate length, also on a wide screen.
std::size_t help_width() {
  constexpr std::size_t kNarrowest = 40, kWidest = 120;
  return std::clamp(text_width(STDOUT_FILENO), kNarrowest, kWidest);
}

// A line of words, its further lines further right.
std::string hanging(const std::string& head, std::string_view words, std::size_t width) {
  return head + join(answer::wrap(words, width - head.size()), "\n" + std::string(head.size(), ' ')) + "\n";
}

std::string general_help(std::size_t width) {
  std::string text = hanging(
      "", "paceline: measures how fast deep-learning workloads run, with intervals and checks of the outputs",
      width);
  text += "\nusage: paceline COMMAND [options]\n\n";
  for (const auto& c : table())
    if (!c.summary.empty()) text += hanging(fmt::format("  {:<12}", c.name), c.summary, width);
  text += "\n" + hanging("  paceline COMMAND --help   ", "the options of a command", width);
  return text + hanging("  paceline --version        ", "version, and the libraries it was built for", width);
}

const Command* find_command(std::string_view name) {
  for (const auto& c : table())
    if (c.name == name || (!c.alias.empty() && c.alias == name)) return &c;
  return nullptr;
}

// Suggests a command for a plan or model in its place; empty if it is neither.
std::string advice_for_file(const std::string& name) {
  if (name.ends_with(".yaml") || name.ends_with(".yml"))
    return fmt::format("paceline run {}", shown_value(name));
  return config::find_file_type(name) ? fmt::format("paceline infer --model {}", shown_value(name)) : "";
}

[[noreturn]] void unknown_command(const std::string& name) {
  std::string here = config::older_command_message(name);
  if (here.empty()) here = advice_for_file(name);
  if (!here.empty())
    throw Error(ErrorCode::kUsage, fmt::format("unknown command '{}'; here: {}", shown_value(name), here));
  std::vector<std::string> names;
  for (const auto& c : table())
    if (!c.summary.empty()) names.emplace_back(c.name);
  const auto near = nearest_name(name, names);
  throw Error(ErrorCode::kUsage,
              fmt::format("unknown command '{}'{}; there are: {}", shown_value(name),
                          near ? fmt::format("; did you mean '{}'?", *near) : "", join(names, ", ")));
}

// Moves --quiet, --verbose and --no-color from before the command to behind it.
std::vector<std::string> command_first(const std::vector<std::string>& arguments) {
  const auto leads = [](const std::string& a) {
    const auto* option = a.size() > 1 && a[0] == '-' ? config::find_flag(a, config::kSchema) : nullptr;
    return option && option->commands == config::kAnyCommand && option->name != "help" &&
           option->type == config::OptionType::kBoolean;
  };
  const auto command = std::find_if_not(arguments.begin(), arguments.end(), leads);
  if (command == arguments.begin() || command == arguments.end()) return arguments;
  std::vector<std::string> moved{*command};
  moved.insert(moved.end(), arguments.begin(), command);
  moved.insert(moved.end(), command + 1, arguments.end());
  return moved;
}

// How many of the words a command does not accept.
std::size_t not_taken(const std::vector<std::string>& words, unsigned command) {
  return config::parse_flags(words, command).problems.size();
}

// Whether an option, of some command or of another tool, stands in place of the command.
bool is_option(const std::string& word) {
  const auto flag = word.substr(0, word.find('='));
  return word.size() > 1 && word != "--" && word.starts_with('-') &&
         (config::find_flag(flag, config::kAnyCommand) ||
          !config::older_flag_message(flag, "", config::kAnyCommand).empty() ||
          not_taken({word}, config::kInfer) == 0);
}

// Suggests the command that follows its options, else the one that accepts most of them.
[[noreturn]] void option_before_command(std::vector<std::string> words) {
  const std::string first = words.front();
  const auto typed = std::find_if(words.begin(), words.end(), [](const auto& w) { return find_command(w); });
  std::string name = typed == words.end() ? "" : *typed;
  if (typed != words.end()) words.erase(typed);
  if (name.empty()) {
    const auto best = std::ranges::min_element(
        config::kFlagCommands, {}, [&](const config::CommandRow& row) { return not_taken(words, row.bits); });
    name = best->name;
  }
  constexpr std::size_t kLongest = 300;
  throw Error(ErrorCode::kUsage,
              fmt::format("'{}' is before the command; write: paceline {} {}", shown_value(first), name,
                          shown_value(join(words, " "), kLongest)));
}

// The tables of formats as choices of the commands that write them.
void set_format_choices() {
  static const auto kChoices = [] {
    std::vector<config::Choice> choices;
    for (const auto& format : report::formats()) choices.push_back({format.name});
    return choices;
  }();
  config::set_choices("format", config::kReport, kChoices);
  static const auto kOfAnswers = [] {
    std::vector<config::Choice> choices;
    for (const auto& format : answer_formats()) choices.push_back({format.name});
    return choices;
  }();
  config::set_choices("answer_format", config::kAnyCommand, kOfAnswers);
}

// Lists them for its help.
std::string formats_help(std::size_t width) {
  std::string text = "\nFormats:\n";
  for (const auto& format : report::formats())
    text += hanging(fmt::format("  {:<12}", format.name),
                    fmt::format("{} ({})", format.description, format.file), width);
  return text;
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  for (const auto& a : arguments) {
    if (a == "--") return false;
    if (a == "--help" || a == "-h") return true;
  }
  return false;
}

}  // namespace

std::span<const Command> commands() {
  return table();
}

std::string command_help(const Command& command, std::size_t width) {
  std::string text = hanging("usage: ", fmt::format("paceline {} {}", command.name, command.usage), width);
  text += "\n" + hanging("", command.summary, width);
  if (!command.alias.empty()) text += fmt::format("(paceline {} is the same)\n", command.alias);
  if (command.flags != 0) text += "\n" + config::render_help(command.flags, width);
  return command.run == report_command ? text + formats_help(width) : text;
}

std::string commands_markdown() {
  std::string text = "# Commands\n\n| command | usage | does |\n|---|---|---|\n";
  for (const auto& c : table())
    if (!c.summary.empty())
      text += fmt::format("| `{}`{} | `paceline {} {}` | {} |\n", c.name,
                          c.alias.empty() ? "" : fmt::format(" (`{}`)", c.alias), c.name,
                          fmt::join(split(c.usage, '|'), "\\|"), c.summary);
  return text;
}

// Results are JSON, which only holds UTF-8: another name could be neither stored nor found again.
void check_encoding(const std::vector<std::string>& arguments) {
  for (const auto& a : arguments)
    if (!is_utf8(a))
      throw Error(ErrorCode::kUsage,
                  fmt::format("the argument '{}' is not valid UTF-8; rename the file", shown_value(a)));
}

// As a shell takes it again.
std::string command_line_of(const std::vector<std::string>& typed) {
  std::string line = "paceline";
  for (const auto& word : typed) line += " " + analysis::shell_word(word);
  return line;
}

ExitCode dispatch(const std::vector<std::string>& typed) {
  check_encoding(typed);
  set_format_choices();
  const auto arguments = command_first(typed);
  const std::string name = arguments.empty() ? "--help" : arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    print(stdout, general_help(help_width()));
    return arguments.empty() ? ExitCode::kUsage : ExitCode::kOk;
  }
  if (name == "--version" || name == "version") {
    print(stdout, version_text());
    return ExitCode::kOk;
  }
  const Command* command = find_command(name);
  if (!command || !command->summary.empty()) use_plugin_options(DescribedPlugins{});
  if (!command && is_option(name)) option_before_command(arguments);
  if (!command) unknown_command(name);
  Context context{name, {arguments.begin() + 1, arguments.end()}, command_line_of(typed), command->flags};
  if (!command->summary.empty() && asks_for_help(context.arguments)) {
    use_plugin_options(config::parse_flags(context.arguments, command->flags));
    print(stdout, command_help(*command, help_width()));
    return ExitCode::kOk;
  }
  return command->run(context);
}

}  // namespace paceline::cli
