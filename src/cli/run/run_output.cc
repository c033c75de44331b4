// SPDX-License-Identifier: MIT
#include "cli/run/run_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>

#include "analysis/bandwidth_gates.h"
#include "analysis/bottlenecks.h"
#include "analysis/case_query.h"
#include "analysis/finding_table.h"
#include "analysis/gates.h"
#include "analysis/self_test.h"
#include "analysis/verdict.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/own_environment.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/exit_rules.h"
#include "cli/overwriting.h"
#include "cli/report/report_source.h"
#include "cli/run/baseline_run.h"
#include "cli/run/run_history.h"
#include "compare/baseline_gates.h"
#include "report/bottlenecks.h"
#include "report/format_table.h"
#include "report/junit.h"
#include "result/stored/result_json.h"
#include "run/collective/nccl_tests_variables.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

// A document about the run, in the file that an option names.
struct FurtherFile {
  std::string_view option;
  std::string (*make)(const result::RunResult&, const ExitOptions&);
};
constexpr std::array kFurtherFiles{
    FurtherFile{"junit", [](const result::RunResult& run,
                            const ExitOptions& exit) { return report::junit_xml(run, exit.strictness()); }},
    FurtherFile{"nccl_json", [](const result::RunResult& run, const ExitOptions&) {
                  const report::ReportRun input{run, {}};
                  return report::find_format("nccl-json").render({&input, 1}, {});
                }}};

// A gate on a case that Ctrl-C left unmeasured must not cost the report.
void decide_gates(result::RunResult& run, const FinishOptions& options, const Console& console) {
  const auto warn = [&](const std::string& words) { console.warn(words); };
  run.gates = analysis::accuracy_gates(run);
  try {
    for (const auto& gates :
         {analysis::objective_gates(run),
          analysis::bandwidth_gates(run, run::nccl_tests_minimum(own_environment())),
          analysis::decide_gates(options.gates, run),
          compare::baseline_gates(options.gates, {run.folder, run}, [&](const std::string& name) {
            return baseline_run(name, options.results, warn);
          })})
      run.gates.insert(run.gates.end(), gates.begin(), gates.end());
  } catch (const Error& e) {
    if (!options.exit.interrupted) throw;
    console.warn(e.what());
  }
}

// Files that could not be written are reported once the table has been shown.
class WriteAttempts {
 public:
  void attempt(const std::function<void()>& write) {
    try {
      write();
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kIo) throw;
      if (!first_) first_ = std::current_exception();
    }
  }
  [[nodiscard]] bool complete() const { return !first_; }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

void write_report(const result::RunResult& run, const result::RunDirectory& directory) {
  const auto input = report_run({directory.path(), run}, true);
  replace_file(directory.path() / "report.html", report::find_format("html").render({&input, 1}, {}));
}

std::string gates_text(const result::RunResult& run) {
  std::string text;
  for (const auto& g : run.gates)
    text += for_terminal(fmt::format("expect {}: {} ({}; {})", on_one_line(g.expression), g.verdict.words(),
                                     on_one_line(g.case_id), g.detail)) +
            "\n";
  return text.empty() ? text : "\n" + text;
}

std::string next_text(const result::RunResult& run, const FinishOptions& options) {
  const bool measured = std::ranges::any_of(run.cases, analysis::is_ok);
  if (!options.next || !measured) return {};
  const auto [tune, compare] = options.next(run);
  std::string text;
  if (!tune.empty()) text += fmt::format("To find the best engine, precision and threads:\n  {}\n", tune);
  if (!compare.empty()) text += fmt::format("To compare engines and precisions:\n  {}\n", compare);
  return for_terminal(text);
}

// A profile of several ranks in which nothing was exchanged would say 0 % of sync stalls, which is not known.
void check_communication(const result::RunResult& run) {
  for (const auto& one : run.cases)
    if (auto reason = analysis::no_communication(one); !reason.empty())
      throw Error(ErrorCode::kData, std::move(reason));
}

// Why gates do not count although they are met, and what accepts that.
std::string invalid_text(const result::RunResult& run) {
  const auto met = std::ranges::count(run.gates, answer::Verdict::kYes, &result::GateResult::verdict);
  const auto noisy = std::ranges::count(run.cases, result::Grade::kC, &result::CaseResult::grade);
  return fmt::format(
      "exit code {}: {}{} of grade C; --allow-noisy accepts that",
      static_cast<int>(ExitCode::kEnvironmentInvalid),
      met > 0 ? fmt::format("{} of {} met, but ", met, plural(std::ssize(run.gates), "gate")) : "",
      noisy == 1 ? "1 case is" : fmt::format("{} cases are", noisy));
}

// Table, gates and the answer. `complete`: all files could be written.
std::string closing_text(const result::RunResult& run, const result::RunDirectory& directory,
                         const Console& console, const FinishOptions& options, bool complete) {
  const answer::TerminalOptions terminal{console.width, console.ascii, console.colour};
  auto text = "\n" + report::terminal_table(run, terminal);
  if (complete)
    text += fmt::format("\nreport  {}\n", on_one_line((directory.path() / "report.html").string()));
  text += gates_text(run) + report::terminal_answer(run, terminal);
  if (complete) text += add_to_history(run, directory.path(), options.results, console);
  return text + next_text(run, options);
}

// Why a file cannot be written; empty if nothing is known. Devices and links are left to the writing.
std::string obstacle_to(const std::string& name) {
  if (name == "-") return "standard output has the table; name a file, or /dev/stderr";
  const fs::path file = fs::absolute(name);
  std::error_code error;
  const auto target = fs::status(file, error);
  if (fs::is_directory(target)) return "it is a folder; name a file";
  if (!fs::status_known(target)) return error.message() + "; name another";
  if (const auto found = fs::symlink_status(file, error); fs::exists(found) && !fs::is_regular_file(found))
    return {};
  fs::create_directories(file.parent_path(), error);
  if (error) return fmt::format("its folder cannot be made ({}); name another", error.message());
  return ::access(file.parent_path().c_str(), W_OK) == 0 ? "" : "its folder is not writable; name another";
}

}  // namespace

ExitCode finish_run(result::RunResult& run, const result::RunDirectory& directory, const Console& console,
                    const FinishOptions& options) {
  std::exception_ptr gate_error;
  run.folder = directory.path().string();
  run.findings = analysis::find_all(run);
  try {
    decide_gates(run, options, console);
  } catch (const Error&) {
    gate_error = std::current_exception();  // the results come first, then the error
  }
  const ExitCode code = exit_code_of(run, options.exit);
  run.exit_code = static_cast<int>(code);
  run.sentence = join(analysis::headline(run), "\n");
  WriteAttempts files;
  files.attempt([&] { directory.write_summary(run); });
  files.attempt([&] { write_report(run, directory); });
  for (const auto& further : kFurtherFiles)
    if (options.settings.has(further.option))
      files.attempt(
          [&] { write_file_atomic(options.settings.text(further.option), further.make(run, options.exit)); });
  if (console.json) console.result(result::json_text(result::to_json(run)));
  print(console.text(), closing_text(run, directory, console, options, files.complete()));
  if (!options.bottlenecks.empty())
    print(console.text(), for_terminal(report::bottlenecks_text(run, options.bottlenecks)));
  if (code == ExitCode::kEnvironmentInvalid) console.say(invalid_text(run));
  if (gate_error) std::rethrow_exception(gate_error);
  files.rethrow();
  if (options.self_test) {
    const auto answer = analysis::self_test_answer(analysis::judge_self_test(run, run.findings));
    print(console.text(), "\n");
    show(answer, *options.self_test, console);
    return worse(code, answer::exit_code_of(answer));
  }
  if (!options.bottlenecks.empty()) check_communication(run);
  return code;
}

void check_output_files(const config::FlagSet& flags) {
  for (const auto& setting : flags.settings) {
    if (std::ranges::find(kFurtherFiles, setting.name, &FurtherFile::option) == kFurtherFiles.end()) continue;
    const auto& name = setting.values.front().text;
    if (const auto why = obstacle_to(name); !why.empty())
      throw Error(ErrorCode::kUsage, fmt::format("{} '{}': {}", setting.written, shown_path(name), why));
    check_overwrites_no_input(flags, setting.name, std::array<fs::path, 1>{name});
  }
}

}  // namespace paceline::cli
