// SPDX-License-Identifier: MIT
// The command `history`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/answer_output.h"
#include "cli/attach/job_record.h"
#include "cli/command_table.h"
#include "cli/documents.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "history/index.h"
#include "history/listing.h"
#include "history/names.h"
#include "history/prune.h"
#include "history/trend.h"
#include "result/metric_table.h"
#include "result/run_directory.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

struct HistoryCall {
  const config::FlagSet& flags;
  const config::Settings& options;
  std::vector<std::string> words;  // behind the action
  history::Filter filter;
  history::Updated updated{};
  std::string csv{};  // of export; shown instead of an answer

  [[nodiscard]] fs::path results() const { return options.text("output_dir"); }
};

struct HistoryAction {
  std::string_view name, words;  // behind it, as in its usage
  std::size_t fewest = 0, most = 0;
  answer::Answer (*run)(HistoryCall&, history::Index&);
};

history::Filter filter_of(const config::Settings& options) {
  history::Filter filter{options.texts("models"),
                         options.texts("engines"),
                         options.texts("experiment"),
                         options.texts("tag"),
                         options.has("case") ? options.text("case") : "",
                         options.has("since") ? options.text("since") : "",
                         options.has("until") ? options.text("until") : ""};
  if (!filter.since.empty()) history::check_time("--since", filter.since);
  if (!filter.until.empty()) history::check_time("--until", filter.until);
  return filter;
}

answer::Answer said(std::string sentence) {
  return {.title = "history", .sentence = std::move(sentence)};
}

// Changes the marks of the run that the first word names.
answer::Answer change_marks(const HistoryCall& call, history::Index& index, std::string_view done,
                            void (*change)(history::Marks&, const std::string& run_id,
                                           const std::string& text)) {
  const auto runs = index.runs(history::headline_metrics());
  const auto& run = history::find_run(runs, call.words.at(0)).run;
  auto marks = index.marks();
  change(marks, run.run_id, call.words.at(1));
  index.set_marks(std::move(marks));
  return said(fmt::format("run {} {} '{}'", run.run_id, done, shown_value(call.words[1])));
}

// A tag and a pin of one name would lead to two runs.
void check_new_mark(const HistoryCall& call, const std::map<std::string, std::string>& others,
                    std::string_view kind) {
  history::check_mark_name(call.words.at(1));
  if (others.contains(call.words.at(1)))
    throw Error(ErrorCode::kUsage, fmt::format("'{}' is the name of a {} already; choose another",
                                               shown_value(call.words[1]), kind));
}

answer::Answer remove_mark(const HistoryCall& call, history::Index& index,
                           std::map<std::string, std::string> history::Marks::*kind, std::string_view word) {
  auto marks = index.marks();
  const auto& name = call.words.at(0);
  std::vector<std::string> names;
  for (const auto& [one, run] : marks.*kind) names.push_back(one);
  if ((marks.*kind).erase(name) == 0)
    throw Error(ErrorCode::kUsage,
                fmt::format("'{}' is no {} here; there {}", shown_value(name), word,
                            names.empty() ? "is none" : "are: " + shown_value(join(names, ", "))));
  index.set_marks(std::move(marks));
  return said(fmt::format("{} '{}' is removed", word, shown_value(name)));
}

answer::Answer list_runs(HistoryCall& call, history::Index& index) {
  const auto runs = history::selected(index.runs(history::headline_metrics()), call.filter);
  return history::list_answer(runs, static_cast<std::size_t>(call.options.integer("limit")), call.updated,
                              call.results());
}

answer::Answer add_tag(HistoryCall& call, history::Index& index) {
  check_new_mark(call, index.marks().pins, "pin");
  return change_marks(call, index, "has the tag",
                      [](auto& marks, const auto& run_id, const auto& name) { marks.tags[name] = run_id; });
}

answer::Answer add_pin(HistoryCall& call, history::Index& index) {
  check_new_mark(call, index.marks().tags, "tag");
  return change_marks(call, index, "is pinned as",
                      [](auto& marks, const auto& run_id, const auto& name) { marks.pins[name] = run_id; });
}

answer::Answer set_note(HistoryCall& call, history::Index& index) {
  return change_marks(call, index, "has the note", [](auto& marks, const auto& run_id, const auto& text) {
    text.empty() ? void(marks.notes.erase(run_id)) : void(marks.notes[run_id] = text);
  });
}

answer::Answer remove_tag(HistoryCall& call, history::Index& index) {
  return remove_mark(call, index, &history::Marks::tags, "tag");
}

answer::Answer remove_pin(HistoryCall& call, history::Index& index) {
  return remove_mark(call, index, &history::Marks::pins, "pin");
}

// Makes runs of jobs that other programs started, of which there are only step files. `left_out`: those that
// cannot be read or still run.
void record_jobs(const fs::path& below, int depth, std::vector<std::string>& left_out) {
  try {
    if (is_unrecorded_job(below)) return record_step_files(below);
  } catch (const Error& e) {
    return left_out.emplace_back(e.what()), void();
  }
  if (depth == 0 || fs::exists(below / result::kSummaryFile)) return;
  for (const auto& entry : fs::directory_iterator(below, fs::directory_options::skip_permission_denied))
    if (entry.is_directory() && !entry.is_symlink()) record_jobs(entry.path(), depth - 1, left_out);
}

answer::Answer import_runs(HistoryCall& call, history::Index& index) {
  constexpr int kDepth = 3;  // of folders in an archive of artefacts
  auto marks = index.marks();
  std::size_t found = 0;
  std::vector<std::string> left_out;
  for (const auto& word : call.words) {
    if (!fs::is_directory(word))
      throw Error(ErrorCode::kUsage, fmt::format("import {}: no such folder", shown_path(word)));
    record_jobs(fs::canonical(word), kDepth + 1, left_out);
    const auto folders = history::run_folders(fs::canonical(word), kDepth);
    if (folders.empty() && !left_out.empty()) throw Error(ErrorCode::kData, left_out.front());
    if (folders.empty())
      throw Error(ErrorCode::kUsage,
                  fmt::format("import {}: no run (run_summary.json) and no step file (rank0.steps) is in it",
                              shown_path(word)));
    for (const auto& folder : folders) marks.imported.insert(folder.string());
    found += folders.size();
  }
  index.set_marks(std::move(marks));
  const auto updated = index.update();
  auto answer = said(fmt::format("{} in {}, {} of them new", plural(static_cast<std::int64_t>(found), "run"),
                                 plural(std::ssize(call.words), "folder"), updated.added));
  std::ranges::copy(updated.unreadable, std::back_inserter(left_out));
  for (const auto& why : left_out) answer.remarks.push_back("left out: " + why);
  return answer;
}

answer::Answer export_runs(HistoryCall& call, history::Index& index) {
  const auto metrics =
      call.options.has("metric") ? std::vector{call.options.text("metric")} : std::vector<std::string>();
  const auto runs = history::selected(index.runs(metrics), call.filter);
  call.csv = history::runs_csv(runs);
  return said({});
}

answer::Answer prune_answer(const history::PrunePlan& plan, bool deleted) {
  std::uint64_t freed = 0;
  answer::Table table{.heads = {"run", "folder", "size"}, .numbers_from = 2};
  for (const auto& one : plan.runs) {
    table.add(one.run_id, one.folder.string(), format_bytes(static_cast<double>(one.bytes)));
    freed += one.bytes;
  }
  answer::Answer answer{.title = "history", .sentence = {}};
  answer.sentence =
      plan.runs.empty()
          ? fmt::format("nothing to delete: all runs together have {}",
                        format_bytes(static_cast<double>(plan.bytes)))
          : fmt::format("{} {}, {} of {}; {} stay", plural(std::ssize(plan.runs), "run"),
                        deleted ? "deleted" : "to delete", format_bytes(static_cast<double>(freed)),
                        format_bytes(static_cast<double>(plan.bytes)), plan.kept);
  if (!plan.fits)
    answer.remarks.emplace_back("tagged, pinned and newest runs alone are larger than --keep-size");
  answer.sections.push_back({.title = deleted ? "Deleted" : "To delete", .table = std::move(table)});
  return answer;
}

answer::Answer prune_runs(HistoryCall& call, history::Index& index) {
  if (!call.options.has("keep_size"))
    throw Error(ErrorCode::kUsage, "prune: --keep-size is missing; write, e.g., --keep-size 5G");
  const auto plan = history::plan_prune(index, {static_cast<std::uint64_t>(call.options.integer("keep_size")),
                                                static_cast<std::size_t>(call.options.integer("keep"))});
  const bool dry = call.options.flag("dry_run");
  if (!dry && !plan.runs.empty() && !call.options.flag("yes"))
    throw Error(ErrorCode::kUsage, fmt::format("prune deletes {}; --dry-run lists them, --yes deletes them",
                                               plural(std::ssize(plan.runs), "run folder")));
  if (!dry) history::prune(index, plan);
  return prune_answer(plan, !dry);
}

answer::Answer show_trend(HistoryCall& call, history::Index& index) {
  const auto metric = call.options.has("metric") ? call.options.text("metric") : "";
  const auto runs = history::selected(index.runs(history::metrics_of_courses(metric)), call.filter);
  return history::trend_answer(history::courses_of(runs, metric));
}

constexpr std::size_t kManyWords = config::kAnyNumber;
constexpr std::array kHistoryActions{HistoryAction{"list", "", 0, 0, list_runs},
                                     HistoryAction{"tag", " RUN NAME", 2, 2, add_tag},
                                     HistoryAction{"untag", " NAME", 1, 1, remove_tag},
                                     HistoryAction{"note", " RUN TEXT", 2, 2, set_note},
                                     HistoryAction{"pin", " RUN NAME", 2, 2, add_pin},
                                     HistoryAction{"unpin", " NAME", 1, 1, remove_pin},
                                     HistoryAction{"trend", "", 0, 0, show_trend},
                                     HistoryAction{"prune", " --keep-size SIZE", 0, 0, prune_runs},
                                     HistoryAction{"import", " DIR …", 1, kManyWords, import_runs},
                                     HistoryAction{"export", "", 0, 0, export_runs}};

const HistoryAction& action_of(const std::vector<std::string>& words) {
  if (words.empty()) return kHistoryActions.front();
  const auto* found = std::ranges::find(kHistoryActions, words.front(), &HistoryAction::name);
  if (found == kHistoryActions.end()) {
    std::vector<std::string> names;
    for (const auto& one : kHistoryActions) names.emplace_back(one.name);
    const auto near = nearest_name(words.front(), names);
    throw Error(ErrorCode::kUsage,
                fmt::format("history {}: no such action{}; there are: {}", shown_value(words.front()),
                            near ? fmt::format("; did you mean '{}'?", *near) : "", join(names, ", ")));
  }
  if (words.size() - 1 < found->fewest || words.size() - 1 > found->most)
    throw Error(
        ErrorCode::kUsage,
        fmt::format("usage: paceline history {}{}; {} given", found->name, found->words,
                    words.size() == 1
                        ? "none is"
                        : fmt::format("'{}' is",
                                      shown_value(join(
                                          std::vector<std::string>(words.begin() + 1, words.end()), " ")))));
  return *found;
}

// export writes CSV alone.
void check_options(const HistoryAction& action, const HistoryCall& call) {
  if (action.run == export_runs && call.flags.has("answer_format"))
    throw Error(ErrorCode::kUsage, "--format: paceline history export writes CSV; leave it out");
  if (const auto metric = call.options.has("metric") ? call.options.text("metric") : "";
      !metric.empty() && !result::find_metric(metric))
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--metric {}: no such metric; paceline schema metrics lists them", shown_value(metric)));
}

}  // namespace

ExitCode history_command(const Context& context) {
  const auto flags = config::parse_flags(context.arguments, config::kHistory);
  const auto options = config::command_settings(flags);
  const Console console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                       options.flag("no_color"));
  const auto& action = action_of(flags.positionals);
  HistoryCall call{flags, options, {}, filter_of(options)};
  if (!flags.positionals.empty()) call.words.assign(flags.positionals.begin() + 1, flags.positionals.end());
  check_options(action, call);
  const auto output =
      action.run == export_runs ? AnswerOutput{} : answer_output(flags, options, "history", "output");
  answer::Answer answer;
  history::with_index(
      call.results(), [&](const std::string& text) { console.warn(text); },
      [&](history::Index& index) {
        call.updated = options.flag("rebuild") ? index.rebuild() : index.update();
        answer = action.run(call, index);
      });
  if (action.run == export_runs)
    deliver(Document{report::FormatKind::kText,
                     "csv",
                     "history.csv",
                     call.csv,
                     options.has("output") ? options.text("output") : kStandardOutput,
                     {},
                     console});
  else
    show(answer, output, console);
  return answer::exit_code_of(answer);
}

}  // namespace paceline::cli
