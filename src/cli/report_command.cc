// SPDX-License-Identifier: MIT
// The command `report`.
#include <fmt/format.h>

#include <filesystem>
#include <future>
#include <map>

#include "analysis/what_if.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/command_table.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "report/format_table.h"
#include "result/run_directory.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

struct ReportSource {
  fs::path folder;
  report::ReportRun run;
};

ReportSource read_source(const std::string& path, const Console& console) {
  if (!fs::exists(path))
    throw Error(ErrorCode::kUsage, fmt::format("--source {}: no such file or folder", path));
  auto stored = result::read_run(path);
  ReportSource source{stored.folder, {}};
  auto changes = std::async(std::launch::async, [&] { return result::changed_results(stored); });
  std::map<std::string, std::int64_t> lacking;  // numbers of cases by what they lack
  for (const auto& c : stored.run.cases) {
    auto read = result::read_case_samples(stored, c);
    source.run.samples[c.case_id] = std::move(read.samples);
    if (!read.lacking.empty()) ++lacking[read.lacking];
  }
  const auto changed = changes.get();
  source.run.result = std::move(stored.run);
  for (const auto& sentence : changed) {
    console.warn(sentence);  // tables and data have no room for it
    source.run.result.warnings.push_back(sentence);
  }
  for (const auto& [what, cases] : lacking)
    source.run.result.warnings.push_back(fmt::format(
        "{} with {}: the table stands, single samples cannot be drawn", plural(cases, "case"), what));
  return source;
}

// "report generate -s DIR" and "report DIR" mean the same.
std::vector<std::string> source_paths(const config::FlagSet& flags, const config::Settings& options) {
  auto paths = options.texts("source");
  for (const auto& word : flags.positionals)
    if (word != "generate") paths.push_back(word);
  if (paths.empty())
    throw Error(
        ErrorCode::kUsage,
        "no run given; usage: paceline report --source results/<experiment>/<run_id> [--format html]");
  return paths;
}

// A name without an extension, or with a slash at its end, is a folder, which is created if missing.
fs::path file_in(const fs::path& output, const report::Format& format) {
  const bool folder_name = output.filename().empty() || !output.has_extension();
  if (!fs::is_directory(output) && (fs::exists(output) || !folder_name)) return output;
  make_directories(output);
  return output / format.file;
}

// html is written beside the (first) run, other formats to standard output, unless --output says otherwise.
void deliver(const report::Format& format, const std::string& document, const config::Settings& options,
             const fs::path& folder, const Console& console) {
  fs::path file;
  if (options.has("output")) {
    file = file_in(options.text("output"), format);
  } else if (format.name == "html") {
    file = folder / format.file;
  }
  if (file.empty()) return console.result(document);
  write_file_atomic(file, document);
  console.say(fmt::format("report  {}", file.string()));
}

}  // namespace

ExitCode report_command(const Context& context) {
  const auto flags = config::parse_flags(context.arguments, config::kReport);
  const auto options = config::command_settings(flags);
  const Console console =
      make_console(false, options.flag("quiet"), options.flag("verbose"), options.flag("no_color"));
  const auto changes = options.has("what_if") ? analysis::parse_changes(options.text("what_if"))
                                              : std::vector<analysis::Change>();
  std::vector<report::ReportRun> runs;
  fs::path folder;
  for (const auto& path : source_paths(flags, options)) {
    auto source = read_source(path, console);
    if (folder.empty()) folder = source.folder;
    source.run.changes = changes;
    runs.push_back(std::move(source.run));
  }
  report::RenderOptions render;
  render.terminal = {console.width, console.ascii, console.colour};
  for (const auto& name : options.texts("format")) {
    const auto& format = report::find_format(name);
    deliver(format, format.render(runs, render), options, folder, console);
  }
  return ExitCode::kOk;
}

}  // namespace paceline::cli
