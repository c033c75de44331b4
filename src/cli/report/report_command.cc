// SPDX-License-Identifier: MIT
// The command `report`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>

#include "analysis/what_if.h"
#include "answer/render/answer_forms.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/lower_case.h"
#include "base/text.h"
#include "cli/answer_output.h"
#include "cli/command_table.h"
#include "cli/report/report_files.h"
#include "cli/report/report_source.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "monitor/course.h"
#include "report/format_table.h"
#include "report/recording.h"
#include "result/run_directory.h"

namespace paceline::cli {
namespace fs = std::filesystem;
using report::FormatKind;
namespace {

struct ReportSource {
  fs::path folder;
  report::ReportRun run;
};

// The folders of the runs below a folder of experiments, the newest first; none where it is a run itself.
std::vector<fs::path> runs_below(const fs::path& path) {
  std::vector<fs::path> runs;
  std::error_code error;
  if (!fs::is_directory(path, error) || fs::exists(path / result::kSummaryFile, error)) return runs;
  for (fs::recursive_directory_iterator it(path, fs::directory_options::skip_permission_denied, error), end;
       it != end; it.increment(error)) {
    if (it.depth() > 2) it.disable_recursion_pending();
    if (it->path().filename() == result::kSummaryFile) runs.push_back(it->path().parent_path());
  }
  std::ranges::sort(runs, std::ranges::greater(), [](const fs::path& run) { return run.filename(); });
  return runs;
}

// A folder of several runs stands for its newest one; the others are there to be asked for.
void print_chosen_run(const std::string& path, const fs::path& taken, const Console& console) {
  const auto runs = runs_below(path);
  const auto other = std::ranges::find_if(runs, [&](const auto& run) { return run != taken; });
  if (other != runs.end())
    console.warn(
        fmt::format("{} runs are below '{}'; this is the newest, {}; another one: paceline report "
                    "--source {}",
                    runs.size(), path, taken.string(), other->string()));
}

ReportSource read_source(const std::string& path, bool pictures, const Console& console) {
  if (!fs::exists(path))
    throw Error(ErrorCode::kUsage, fmt::format("--source {}: no such file or folder", shown_path(path)));
  auto stored = result::read_run(path);
  print_chosen_run(path, stored.folder, console);
  auto changes = std::async(std::launch::async, [&] { return result::changed_results(stored); });
  ReportSource source{stored.folder, report_run(stored, pictures)};
  for (const auto& sentence : changes.get()) {
    console.warn(sentence);  // tables and data have no room for it
    source.run.result.warnings.push_back(sentence);
  }
  return source;
}

// The name of the newest run below a folder; run ids sort by time. Empty: there is none.
std::string newest_run_id(const fs::path& folder) {
  std::string newest;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && fs::exists(entry.path() / result::kSummaryFile))
      newest = std::max(newest, entry.path().filename().string());
  return newest;
}

// Where `profile` has written into the folder of another experiment's runs, both are shown side by side.
std::vector<std::string> with_its_profile(const std::string& path) {
  const fs::path profiles = fs::path(path) / "profile";
  if (!fs::is_directory(profiles) || fs::exists(fs::path(path) / result::kSummaryFile)) return {path};
  fs::path best;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.is_directory() && entry.path() != profiles && !newest_run_id(entry.path()).empty() &&
        (best.empty() || newest_run_id(best) < newest_run_id(entry.path())))
      best = entry.path();
  const auto profile = newest_run_id(profiles);
  if (profile.empty()) return {path};
  if (best.empty()) return {(profiles / profile).string()};
  return {(best / newest_run_id(best)).string(), (profiles / profile).string()};
}

constexpr const char* kUsualSource = "results";  // where runs are written by default

// "report generate -s DIR" and "report DIR" mean the same, and "report generate" alone is about ./results.
std::vector<std::string> source_paths(const config::FlagSet& flags, const config::Settings& options) {
  auto paths = options.texts("source");
  for (const auto& word : flags.positionals)
    if (word != "generate") paths.push_back(word);
  const bool generates = std::ranges::find(flags.positionals, "generate") != flags.positionals.end();
  if (paths.empty() && generates && fs::is_directory(kUsualSource)) paths.emplace_back(kUsualSource);
  if (paths.empty())
    throw Error(
        ErrorCode::kUsage,
        "no run given; usage: paceline report --source results/<experiment>/<run_id> [--format html]");
  std::vector<std::string> all;
  for (const auto& path : paths)
    for (auto& one : with_its_profile(path)) all.push_back(std::move(one));
  return all;
}

// The format that the ending of an output names, where no other is asked for; null: none is asked for. An
// ending that no format has may be that of a file of another kind, so it is refused.
const report::Format* format_of_output(const config::FlagSet& flags, const config::Settings& options) {
  const bool asked =
      std::ranges::find(flags.settings, "format", &config::RawSetting::name) != flags.settings.end();
  if (asked || !options.has("output")) return nullptr;
  const fs::path output = options.text("output");
  auto ending = lower_case(output.extension().string());
  if (ending.empty() || fs::is_directory(output)) return nullptr;
  if (ending == ".markdown" || ending == ".htm") ending = ending == ".htm" ? ".html" : ".md";
  if (ending == ".png" || ending == ".svg")
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--output {}: pictures are a folder of every chart; write --format {} --output FOLDER",
                    shown_path(output.string()), ending.substr(1)));
  const auto found = std::ranges::find_if(report::formats(), [&](const report::Format& format) {
    return fs::path(format.file).extension() == ending;
  });
  if (found != report::formats().end()) return &*found;
  std::vector<std::string> endings;
  for (const auto& format : report::formats())
    if (const auto known = fs::path(format.file).extension().string();
        !known.empty() && std::ranges::find(endings, known) == endings.end())
      endings.push_back(known);
  throw Error(ErrorCode::kUsage,
              fmt::format("--output {}: no format has the ending {}; write one of {}, or add --format NAME",
                          shown_path(output.string()), ending, join(endings, ", ")));
}

std::vector<const report::Format*> formats_of(const config::FlagSet& flags, const config::Settings& options) {
  if (const auto* format = format_of_output(flags, options)) return {format};
  std::vector<const report::Format*> formats;
  for (const auto& name : options.texts("format")) formats.push_back(&report::find_format(name));
  return formats;
}

// --what-if asks about training on several ranks, and needs a form with room for sentences.
void require_answers(const std::vector<report::ReportRun>& runs,
                     const std::vector<const report::Format*>& formats) {
  const auto trained = [](const auto& run) {
    return std::ranges::any_of(run.result.cases, analysis::is_on_several_ranks);
  };
  if (std::ranges::none_of(runs, trained))
    throw Error(ErrorCode::kUsage,
                "--what-if: no case of this result trained on several ranks with DDP; measure one, e.g. with "
                "paceline train --ranks 1,2,4");
  if (std::ranges::any_of(formats, [](const auto* f) { return f->answers; })) return;
  std::vector<std::string_view> others;
  for (const auto& format : report::formats())
    if (format.answers) others.push_back(format.name);
  throw Error(ErrorCode::kUsage, fmt::format("--what-if: {} has no place for answers; use --format {}",
                                             formats.front()->name, fmt::join(others, ", ")));
}

// A recording has no cases.
const AnswerFormat& form_of_recording(const report::Format& asked) {
  for (const auto& form : answer_formats())
    if (form.name == asked.name) return form;
  throw Error(ErrorCode::kUsage, fmt::format("--format {}: a recording of paceline monitor has no cases; use "
                                             "html, pdf, markdown, json or text",
                                             asked.name));
}

// A recording of paceline monitor: its page is beside it and has its name.
ExitCode report_recording(const std::vector<std::string>& paths, const config::FlagSet& flags,
                          const config::Settings& options, const report::RenderOptions& render,
                          const Console& console) {
  const fs::path file = paths.front();
  if (paths.size() > 1 || options.has("what_if"))
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--source {}: a recording of paceline monitor is reported alone: {}",
                    shown_path(file.string()), paths.size() > 1 ? "name one source" : "leave out --what-if"));
  const auto course = monitor::course_of({monitor::read_recording(file)});
  if (course.empty())
    throw Error(ErrorCode::kData, fmt::format("{}: it has no readings", shown_path(file.string())));
  const auto answer = report::answer_of(course);
  const fs::path output = options.has("output") ? options.text("output") : "";
  const auto formats = formats_of(flags, options);
  if (output == kStandardOutput) check_standard_output(formats);
  for (const auto* format : formats) {
    const auto& form = form_of_recording(*format);
    const bool on_terminal = output.empty() && form.kind == FormatKind::kText;
    const auto own = fs::path(file).replace_extension(form.ending);
    std::error_code none;
    const auto& target = output.empty() && !on_terminal ? own : output;
    if (fs::equivalent(target, file, none))
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} is the recording itself; write the report elsewhere: --output FILE",
                              shown_path(target.string())));
    const auto name = own.filename().string();
    deliver(Document{form.kind, form.name, name,
                     form.name == "text" ? answer::terminal_of(answer, render.terminal) : form.render(answer),
                     target, file.parent_path(), console});
  }
  return ExitCode::kOk;
}

// Parquet needs a large library, and programs that have it read summary.csv.
void refuse_parquet(const config::FlagSet& flags) {
  for (const auto& setting : flags.settings)
    for (const auto& value : setting.values)
      if ((setting.name == "format" && lower_case(value.text) == "parquet") ||
          (setting.name == "output" && lower_case(value.text).ends_with(".parquet")))
        throw Error(ErrorCode::kUsage,
                    fmt::format("{} {}: Paceline writes no Parquet file; DuckDB makes one from a run's CSV: "
                                "duckdb -c \"COPY (FROM 'DIR/summary.csv') TO 'summary.parquet'\"",
                                setting.written, shown_path(value.text)));
}

}  // namespace

ExitCode report_command(const Context& context) {
  const auto flags = config::parse_flags(context.arguments, config::kReport);
  refuse_parquet(flags);
  const auto options = config::command_settings(flags);
  const Console console =
      make_console(false, options.flag("quiet"), options.flag("verbose"), options.flag("no_color"));
  const auto changes = options.has("what_if") ? analysis::parse_changes(options.text("what_if"))
                                              : std::vector<analysis::Change>();
  report::RenderOptions render;
  render.terminal = {console.width, console.ascii, console.colour};
  const auto paths = source_paths(flags, options);
  if (std::ranges::any_of(paths, monitor::is_recording))
    return report_recording(paths, flags, options, render, console);
  std::vector<report::ReportRun> runs;
  fs::path folder;
  const auto formats = formats_of(flags, options);
  const fs::path output = options.has("output") ? options.text("output") : "";
  if (output == kStandardOutput) check_standard_output(formats);
  const bool pictures =
      std::ranges::any_of(formats, [](const auto* f) { return f->kind != FormatKind::kText; });
  for (const auto& path : paths) {
    auto source = read_source(path, pictures, console);
    if (folder.empty()) folder = source.folder;
    source.run.changes = changes;
    runs.push_back(std::move(source.run));
  }
  if (!changes.empty()) require_answers(runs, formats);
  for (const auto* format : formats) deliver({*format, runs, render, output, folder, console});
  return ExitCode::kOk;
}

}  // namespace paceline::cli
