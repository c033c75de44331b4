// SPDX-License-Identifier: MIT
// The command `schema`.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/command_table.h"
#include "cli/exit_rules.h"
#include "cli/plugins.h"
#include "cli/shell_words.h"
#include "cli/version.h"
#include "config/engine_config.h"
#include "config/flags.h"
#include "config/older_flags.h"
#include "config/option_table.h"
#include "config/schema.h"
#include "result/metric_table.h"
#include "result/stored/result_json.h"

namespace paceline::cli {
namespace fs = std::filesystem;
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

// Writes paceline.1 in the macros of man(7), from the tables of commands, options and exit codes.
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

std::string metrics_markdown() {
  static constexpr std::array kBetter{"lower", "higher", "–"};
  std::string text =
      "# Metrics\n\nColumns of `summary.csv`, names of gates (`expect`), values of reports. Formula and "
      "reading of each: [metrics](../metrics.md).\n\n| metric | unit | better | meaning "
      "|\n|---|---|---|---|\n";
  for (const auto& m : result::metrics())
    text += fmt::format("| [`{}`](../metrics.md#{}) | {} | {} | {} |\n", m.name, m.topic.anchor, m.unit,
                        kBetter[static_cast<std::size_t>(m.better)], m.meaning);
  return text;
}

// A generated document: its topic on the command line, its file in docs/reference, and its function.
struct Document {
  std::string_view topic, file, format;
  std::string (*make)();
};
constexpr std::array kDocuments{
    Document{"commands", "commands.md", "markdown", commands_markdown},
    Document{"options", "options.md", "markdown", config::options_markdown},
    Document{"older-flags", "older-flags.md", "markdown", config::older_flags_markdown},
    Document{"metrics", "metrics.md", "markdown", metrics_markdown},
    Document{"exit-codes", "exit-codes.md", "markdown", exit_codes_markdown},
    Document{"man", "paceline.1", "roff", man_page},
    Document{"plan", "plan.schema.json", "json",
             [] { return result::json_text(config::plan_json_schema()); }},
    Document{"engine-config", "engine_config.schema.json", "json",
             [] { return result::json_text(config::engine_config_schema()); }},
    Document{"result", "result.schema.json", "json",
             [] { return result::json_text(result::result_json_schema()); }},
};

const Document& find_document(const std::string& topic) {
  std::vector<std::string> names;
  for (const auto& d : kDocuments) {
    if (d.topic == topic) return d;
    names.emplace_back(d.topic);
  }
  throw Error(ErrorCode::kUsage, fmt::format("unknown topic '{}'; there are: {}", topic, join(names, ", ")));
}

void write_all(const fs::path& folder) {
  make_directories(folder);
  for (const auto& d : kDocuments)
    if (d.format != "roff") replace_file(folder / d.file, d.make());
}

bool to_standard_output(const config::Settings& options) {
  return !options.has("output") || options.text("output") == "-";
}

// The Markdown documents in sequence, or the schemas as one object by topic.
std::string everything(bool as_json) {
  std::string text;
  nlohmann::json schemas;
  for (const auto& d : kDocuments) {
    if (d.format == "json")
      schemas[std::string(d.topic)] = parsed_json(d.make());
    else if (d.format == "markdown")
      text += d.make() + "\n";
  }
  return as_json ? result::json_text(schemas) : text;
}

}  // namespace

std::vector<std::string> schema_topics() {
  std::vector<std::string> topics;
  for (const auto& d : kDocuments) topics.emplace_back(d.topic);
  return topics;
}

// Writes documents that were asked for by name: to stdout, one to a file, or each to a folder.
void deliver_topics(const std::vector<std::string>& topics, const config::Settings& options) {
  if (to_standard_output(options)) {
    for (const auto& topic : topics) print(stdout, find_document(topic).make());
    return;
  }
  const fs::path target = options.text("output");
  const bool folder = topics.size() > 1 || fs::is_directory(target);
  if (folder) make_directories(target);
  for (const auto& topic : topics) {
    const Document& document = find_document(topic);
    folder ? replace_file(target / document.file, document.make())
           : write_file_atomic(target, document.make());
  }
}

// Without a topic everything; into a folder (--output) each document as its own file.
ExitCode schema_command(const Context& context) {
  const auto flags = config::parse_flags(context.arguments, config::kSchema);
  const auto options = config::command_settings(flags);
  use_plugin_options(flags);
  if (!flags.positionals.empty()) {
    deliver_topics(flags.positionals, options);
    return ExitCode::kOk;
  }
  if (to_standard_output(options))
    print(stdout, everything(options.flag("json")));
  else
    write_all(options.text("output"));
  return ExitCode::kOk;
}

}  // namespace paceline::cli
