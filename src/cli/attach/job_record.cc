// SPDX-License-Identifier: MIT
#include "cli/attach/job_record.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <tuple>
#include <utility>

#include "analysis/finding_table.h"
#include "attach/step_header.h"
#include "attach/step_totals.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/attach/attached_job.h"
#include "cli/attach/job_watch.h"
#include "cli/run/run_history.h"
#include "cli/version.h"
#include "host/machine/environment.h"
#include "process/worker_end.h"
#include "result/run_directory.h"
#include "result/stored/result_json.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;
using analysis::traces::TraceStudy;

constexpr const char* kCase = "attached";

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// The script and its words: launchers have ports and addresses that differ from start to start.
std::string work_of(const std::vector<std::string>& command) {
  const auto script = script_in(command);
  return join(std::vector<std::string>(script == command.end() ? command.begin() : script, command.end()),
              " ");
}

// Whether somebody ended the job: launchers exit with a code of their own then. Another signal is a crash.
bool is_interrupted(const JobEnd& end) {
  constexpr std::array kAsked{SIGINT, SIGTERM, SIGHUP};
  constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP, SIGKILL};
  const auto has = [](const auto& signals, int signal) { return std::ranges::count(signals, signal) > 0; };
  if (WIFSIGNALED(end.wait_status) && !has(kEnding, WTERMSIG(end.wait_status))) return false;
  const int code = exit_code_of(end.wait_status);
  return code != 0 && (end.asked_by != 0 ||
                       std::ranges::any_of(kAsked, [&](int signal) { return code == kSignalBase + signal; }));
}

// Code and words why a job failed.
std::pair<std::string, std::string> failure_of(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return {WTERMSIG(wait_status) == SIGKILL ? "killed" : "crash",
            "it died of " + process::signal_words(WTERMSIG(wait_status))};
  return {"exit", fmt::format("it ended with exit code {}", WEXITSTATUS(wait_status))};
}

// Outcome by the job's own files: ranks that its launcher stopped note no end.
std::string outcome_of_files(const FinishedJob& job) {
  if (job.exception == "KeyboardInterrupt") return "interrupted";
  return !job.exception.empty() ? "failed" : job.orderly ? "ok" : "interrupted";
}

std::string outcome_of(const FinishedJob& job) {
  if (!job.end) return outcome_of_files(job);
  return exit_code_of(job.end->wait_status) == 0 ? "ok" : is_interrupted(*job.end) ? "interrupted" : "failed";
}

// As of other runs: a case that failed counts in no comparison, one that was interrupted is incomplete.
void set_outcome(const FinishedJob& job, result::RunResult& run) {
  auto& one = run.cases.front();
  run.exit_code = job.end ? exit_code_of(job.end->wait_status) : 0;
  run.outcome = outcome_of(job);
  one.complete = run.outcome == "ok";
  if (run.outcome == "interrupted") one.ended_because = result::EndedBecause::kInterrupted;
  if (run.outcome != "failed") return;
  one.outcome = result::Outcome::kFailed;
  std::tie(one.reason_code, one.reason) =
      job.end ? failure_of(job.end->wait_status)
              : std::pair<std::string, std::string>{
                    "exit", fmt::format("rank {} ended with {}", job.failed_rank, job.exception)};
  one.grade = result::Grade::kNone;
  one.grade_reasons.clear();
}

// The one process of the case that stands for all ranks: a case without one is not measured.
result::Repetition repetition_of(const FinishedJob& job, const TraceStudy& study) {
  result::Repetition one;
  one.started_utc = job.started_utc;
  one.n = study.steps;
  one.p50_ns = study.job.headline.p50_ns.value, one.mean_ns = study.step_ns;
  one.stop_reason = "the job ended";
  return one;
}

result::CaseResult case_of_job(const FinishedJob& job, const TraceStudy& study) {
  auto one = study.job;
  const auto script = label_of(job.command);
  one.case_id = one.benchmark.id = kCase;
  one.run_id = job.run_id;
  one.benchmark.model = script;
  one.benchmark.engine = "pytorch";
  one.benchmark.world_size = study.world.value_or(std::ssize(study.ranks));
  one.benchmark.params["command"] = on_one_line(work_of(job.command));
  if (!study.attached->device.empty()) one.benchmark.params["device"] = study.attached->device;
  one.label = fmt::format("{} {}", script, plural(one.benchmark.world_size, "rank"));
  one.repetitions.push_back(repetition_of(job, study));
  one.stats.n = study.steps;
  one.grade = result::Grade::kB;
  one.grade_reasons = {"noise is not judged in a job of another program"};
  return one;
}

// Names the rank that the others wait for.
std::string late_words(const TraceStudy& study) {
  const auto& late = study.job.training()->late;
  if (late.empty()) return {};
  const auto& one = late.front();
  return fmt::format("rank {} is late in {}{}", one.rank, one.late_in,
                     one.cost_ns ? fmt::format(", {} per step", format_duration_ns(*one.cost_ns)) : "");
}

// Ends that the ranks noted.
void set_ends(const std::vector<attach::RankTotals>& ranks, FinishedJob& job) {
  std::int64_t first_ns = 0;  // the others fail because it did
  for (const auto& one : ranks) {
    job.orderly = job.orderly && one.orderly;
    if (one.exception.empty() || (first_ns != 0 && one.ended_ns >= first_ns)) continue;
    first_ns = one.ended_ns, job.exception = one.exception, job.failed_rank = one.place.rank;
  }
}

// Place of the file that began first, also of a start that is in no figure.
attach::FilePlace first_start(const attach::FolderTotals& totals) {
  auto first = totals.job.front().place;
  for (const auto* files : {&totals.job, &totals.others, &totals.apart})
    for (const auto& one : *files)
      if (one.place.started_ns < first.started_ns) first = one.place;
  return first;
}

// A job whose own files are all that is known of it. Its id follows from them, so that it enters once.
FinishedJob job_of_files(const fs::path& folder, const TraceStudy& study) {
  const auto totals = attach::step_totals(folder);
  const auto first = first_start(totals);
  constexpr std::int64_t kNsPerS = 1'000'000'000;
  constexpr std::size_t kDigits = 4;
  const auto& command = study.attached->command;
  FinishedJob job{.folder = folder,
                  .command = split(command, ' '),
                  .command_line = command,
                  .started_utc = format_utc(first.started_ns / kNsPerS),
                  .run_id = {},
                  .end = {}};
  set_ends(attach::newest_starts(totals), job);
  job.run_id = job.started_utc;
  std::erase_if(job.run_id, [](char c) { return c == '-' || c == ':'; });
  job.run_id += "-" + sha256_hex(fmt::format("{} {} {} {}", first.started_ns, first.steps, command,
                                             study.ranks.front().host))
                          .substr(0, kDigits);
  return job;
}

// Facts of this machine, if the job ran on it; else which host it was.
nlohmann::json environment_of(const std::string& host, const std::string& command_line) {
  constexpr std::size_t kDigits = 16;
  if (host.empty()) return nlohmann::json::object();
  if (host == own_host()) return host::capture_environment(command_line);
  return {{"os", {{"host_sha256_16", sha256_hex(host).substr(0, kDigits)}}}};
}

void add_warnings(const JobStudy& of_job, result::RunResult& run) {
  if (!of_job.whole)
    run.warnings.push_back(fmt::format("the step files are large: the figures are of the newest {}",
                                       plural(of_job.study->steps, "step")));
}

// A folder in which another run was written keeps it.
void require_own_folder(const fs::path& summary) {
  if (fs::exists(summary))
    throw Error(ErrorCode::kIo, fmt::format("{} is of another run; name another folder with --output",
                                            shown_path(summary.string())));
}

}  // namespace

result::RunResult run_of_job(const FinishedJob& job, const TraceStudy& study, nlohmann::json environment) {
  result::RunResult run;
  run.suite = suite();
  run.experiment_name = "attach";
  run.run_id = job.run_id;
  run.started_utc = job.started_utc;
  if (job.end) run.finished_utc = format_utc(std::time(nullptr));
  run.command_line = job.command_line;
  run.folder = job.folder.string();
  run.cases.push_back(case_of_job(job, study));
  set_outcome(job, run);
  run.findings = analysis::find_all(run);
  run.environment = std::move(environment);
  if (const auto late = late_words(study); !late.empty()) run.environment["notes"] = {late};
  run.environment["job"] = {{"torch", study.attached->torch}, {"device", study.attached->device}};
  return run;
}

std::string record_job(const FinishedJob& job, const JobStudy& of_job, const Console& console) {
  const auto summary = job.folder / result::kSummaryFile;
  require_own_folder(summary);
  auto run = run_of_job(job, *of_job.study, host::capture_environment(job.command_line));
  add_warnings(of_job, run);
  replace_file(summary, result::json_text(result::to_json(run)));
  return add_to_history(run, job.folder, kResults, console);
}

bool is_unrecorded_job(const fs::path& folder) {
  return !attach::step_files(folder).empty() && !fs::exists(folder / result::kSummaryFile);
}

void record_step_files(const fs::path& folder) {
  const auto of_job = study_of_job(folder);
  if (!of_job.study || of_job.study->steps == 0)
    throw Error(ErrorCode::kData, of_job.problem.empty() ? fmt::format("{}: no steady step is in it",
                                                                       shown_path(folder.string()))
                                                         : of_job.problem);
  const auto starts = attach::newest_starts(attach::step_totals(folder));
  if (of_job.study->attached->running || std::ranges::any_of(starts, &attach::RankTotals::running))
    throw Error(ErrorCode::kData, fmt::format("{}: the job is still running; import it when it has ended",
                                              shown_path(folder.string())));
  const auto job = job_of_files(folder, *of_job.study);
  const auto& host = of_job.study->ranks.front().host;
  if (!job.orderly && !host.empty() && host != own_host())
    throw Error(ErrorCode::kData,
                fmt::format("{}: {} has noted no end, and whether it still runs is seen only "
                            "there; import it on that host",
                            shown_path(folder.string()), shown_value(host)));
  auto run = run_of_job(job, *of_job.study, environment_of(host, job.command_line));
  add_warnings(of_job, run);
  run.warnings.emplace_back("the job was started by another program: its exit code is not known");
  replace_file(folder / result::kSummaryFile, result::json_text(result::to_json(run)));
}

}  // namespace paceline::cli
