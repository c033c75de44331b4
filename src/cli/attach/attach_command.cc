// SPDX-License-Identifier: MIT
// The command `attach`: watches a training job of the user's own.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>
#include <utility>

#include "attach/step_totals.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/attach/attached_job.h"
#include "cli/attach/job_record.h"
#include "cli/attach/job_study.h"
#include "cli/attach/job_watch.h"
#include "cli/attach/steps_folder.h"
#include "cli/command_table.h"
#include "cli/run/run_history.h"
#include "config/flags.h"
#include "report/traces.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

struct AttachWords {
  std::vector<std::string> own, job;
};

AttachWords attach_words(const std::vector<std::string>& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  AttachWords words{{arguments.begin(), dashes}, {}};
  if (dashes != arguments.end()) words.job.assign(dashes + 1, arguments.end());
  return words;
}

constexpr auto kAttachUsage = "write: paceline attach -- torchrun --nproc-per-node 2 train.py";

void check_attach_words(const AttachWords& words, const config::FlagSet& flags) {
  if (!flags.positionals.empty())
    throw Error(ErrorCode::kUsage, fmt::format("attach: '{}' is before the --; {}",
                                               shown_value(flags.positionals.front()), kAttachUsage));
  if (words.job.empty()) throw Error(ErrorCode::kUsage, fmt::format("attach: no command; {}", kAttachUsage));
}

std::uint64_t most_steps(const attach::FolderTotals& totals) {
  std::uint64_t most = 0;
  for (const auto& one : totals.job) most = std::max(most, one.place.steps);
  return most;
}

void add_loss(const attach::RankTotals& rank, std::vector<std::string>& remarks) {
  if (rank.full) remarks.push_back(fmt::format("{}: full; later steps are missing", rank.file));
  if (rank.lost > 0)
    remarks.push_back(fmt::format("{}: {} found no room, and parts of its steps may be too short", rank.file,
                                  plural(static_cast<std::int64_t>(rank.lost), "scope")));
}

// Says which ranks were started more than once, and which the job lost: their other files are in no figure.
void add_restarts(const attach::FolderTotals& totals, std::vector<std::string>& remarks) {
  std::map<std::int64_t, std::int64_t> again, lost;  // files by rank
  for (const auto& one : totals.others) {
    const bool here = std::ranges::any_of(
        totals.job, [&](const auto& other) { return other.place.rank == one.place.rank; });
    ++(here ? again : lost)[one.place.rank];
  }
  std::int64_t starts = 0;
  for (const auto& [rank, files] : again) starts = std::max(starts, files + 1);
  if (!again.empty()) {
    const auto who = again.size() == 1 ? std::string("1 rank was started")
                                       : fmt::format("{} ranks were started up to", again.size());
    remarks.push_back(
        fmt::format("{} {} times; the figures are of the newest start that made steps", who, starts));
  }
  if (!lost.empty())
    remarks.push_back(fmt::format("{} of a start with another number of ranks {} in no figure",
                                  plural(std::ssize(lost), "rank"), lost.size() == 1 ? "is" : "are"));
}

// Names what the figures lack.
std::vector<std::string> remarks_on(const attach::FolderTotals& totals) {
  std::vector<std::string> remarks;
  for (const auto& one : totals.unreadable) remarks.push_back(fmt::format("{}: {}", one.file, one.problem));
  if (!totals.apart.empty())
    remarks.push_back(fmt::format("{} of processes without a rank {} in no figure",
                                  plural(std::ssize(totals.apart), "file"),
                                  totals.apart.size() == 1 ? "is" : "are"));
  for (const auto& one : totals.job) add_loss(one, remarks);
  add_restarts(totals, remarks);
  return remarks;
}

std::string seen_words(const attach::FolderTotals& totals, const fs::path& folder) {
  const auto ranks = std::ssize(totals.job), world = totals.job.front().place.world;
  return fmt::format("{} of {}{} in {}", plural(static_cast<std::int64_t>(most_steps(totals)), "step"),
                     plural(ranks, "rank"), ranks < world ? fmt::format(" (of {} in the job)", world) : "",
                     shown_path(folder.string()));
}

// The study's sentence, as of `profile --from`; else why there is none. Empty if it is of a part of the
// steps.
std::string study_words(const JobStudy& of_job) {
  if (!of_job.problem.empty()) return "not explained: " + of_job.problem;
  return of_job.study && of_job.whole ? report::answer_of(*of_job.study).sentence : "";
}

std::string nothing_words(const StepsFolder& folder, int exit_code) {
  if (!folder.problem().empty())
    return fmt::format(
        "nothing was recorded: the folder {} cannot be written: {}. Name another with --output.",
        shown_path(folder.path().string()), folder.problem());
  if (!fs::exists(folder.path()))
    return fmt::format("nothing is left: the folder {} was removed while the job ran.",
                       shown_path(folder.path().string()));
  if (exit_code != 0)
    return fmt::format(
        "nothing was recorded: the job ended with exit code {} before an optimizer step, or "
        "a line \"not attached\" above says why.",
        exit_code);
  return "nothing was recorded. A line \"not attached\" above says why. Without one, no Python process of "
         "this command imported torch and made an optimizer step while it could be watched: Python's "
         "options -I, -E and -S keep the hook out, and so does a command that sets PYTHONPATH itself.";
}

// Says in words what was seen, so that a job of which nothing was seen does not look like a healthy one.
std::string closing_words(const StepsFolder& steps, const JobStudy& of_job, int exit_code) {
  const auto& folder = steps.path();
  const auto totals = attach::step_totals(folder);
  const auto made = most_steps(totals);
  std::vector<std::string> sentences;
  if (totals.job.empty()) {
    sentences.push_back(nothing_words(steps, exit_code));
  } else if (made == 0) {
    sentences.push_back(
        fmt::format("error: {} of {} ranks were watched, and none made an optimizer step that could be seen.",
                    totals.job.size(), totals.job.front().place.world));
  } else {
    sentences.push_back(seen_words(totals, folder) + ".");
    if (const auto study = study_words(of_job); !study.empty()) sentences.push_back(as_sentence(study));
  }
  for (const auto& remark : remarks_on(totals)) sentences.push_back(as_sentence(remark));
  if (made > 0)
    sentences.push_back(fmt::format("All figures: paceline profile --from {}", shown_path(folder.string())));
  return join(sentences, " ");
}

void say(const std::string& words) {
  print(stderr, folded("paceline attach: " + words + "\n", STDERR_FILENO));
}

// Says what was seen. Returns the study; the exit code is the job's, whatever happens here.
JobStudy told_study(const StepsFolder& steps, int exit_code, bool quiet) try {
  auto of_job = study_of_job(steps.path());
  if (!quiet) say(closing_words(steps, of_job, exit_code));
  return of_job;
} catch (const std::exception& e) {
  if (!quiet) say(as_sentence("the step files could not be read: " + plain_reason(e)));
  return {};
}

// Keeps the job as a run. A failure is one line.
void keep_job(const FinishedJob& job, const JobStudy& of_job, const Console& console) try {
  if (!of_job.study || of_job.study->steps == 0) return;
  const auto lines = record_job(job, of_job, console);
  if (!console.quiet) print(stderr, lines);
} catch (const std::exception& e) {
  if (!console.quiet) say(as_sentence("the job is not in the history: " + plain_reason(e)));
}

// Ends as the job did, so that whoever started this process sees what it would have seen of the job.
[[noreturn]] void end_like(int signal) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
  ::_exit(kSignalBase + signal);
}

// Runs the job and says what was seen of it. Returns its wait status.
int watched(const std::vector<std::string>& command, const std::string& command_line,
            const config::Settings& options) {
  const StepsFolder folder(options);
  if (!folder.remark().empty()) say(as_sentence(folder.remark()));  // also if quiet: it is what to read next
  auto variables = attach_variables(own_environment(), attach_folder(), folder.path());
  const auto console = make_console(false, options.flag("quiet"), false, false);
  if (console.quiet) variables["PACELINE_ATTACH_QUIET"] = "1";
  FinishedJob job{folder.path(),   command, command_line, format_utc(std::time(nullptr)),
                  folder.run_id(), {},      true};
  {
    const JobWatch watch(folder.path(), command,
                         {.tell = !console.quiet, .trace_steps = options.integer("trace")});
    job.end = run_attached(command, variables);
  }
  keep_job(job, told_study(folder, exit_code_of(job.end->wait_status), console.quiet), console);
  return job.end->wait_status;
}

}  // namespace

ExitCode attach_command(const Context& context) {
  const auto words = attach_words(context.arguments);
  const auto flags = config::parse_flags(words.own, config::kAttach);
  const auto options = config::command_settings(flags);
  if (options.flag("path")) {
    if (!words.job.empty() || !flags.positionals.empty())
      throw Error(ErrorCode::kUsage, "attach: --path prints a folder and runs no command; leave one out");
    print(stdout, attach_folder().string() + "\n");
    return ExitCode::kOk;
  }
  check_attach_words(words, flags);
  const int status = watched(words.job, context.command_line, options);
  if (WIFSIGNALED(status)) end_like(WTERMSIG(status));
  return static_cast<ExitCode>(exit_code_of(status));
}

}  // namespace paceline::cli
