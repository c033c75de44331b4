// SPDX-License-Identifier: MIT
// The command `attach`: watches a training job of the user's own.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "attach/step_header.h"
#include "attach/step_totals.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/attach/attached_job.h"
#include "cli/attach/job_record.h"
#include "cli/attach/job_study.h"
#include "cli/attach/job_watch.h"
#include "cli/command_table.h"
#include "cli/run/run_history.h"
#include "cluster/launch_place.h"
#include "config/flags.h"
#include "report/traces.h"
#include "result/run_directory.h"

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

// Makes a folder that no other job has, not even one that starts in the same second, and names the run as it.
fs::path new_folder(std::string& run_id, bool& made, std::error_code& problem) {
  const auto jobs = fs::path(kResults) / "attach";
  fs::create_directories(jobs, problem);
  while (!problem && !(made = fs::create_directory(jobs / run_id, problem))) run_id = result::new_run_id();
  return jobs / run_id;
}

// Makes the folder that --output names, which has no step files yet.
fs::path named_folder(const fs::path& folder, bool& made, std::error_code& problem) {
  if (!attach::step_totals(folder).empty())
    throw Error(ErrorCode::kUsage,
                fmt::format("attach: {} contains step files of an earlier job; name another "
                            "folder with --output",
                            shown_path(folder.string())));
  made = fs::create_directories(folder, problem);
  return folder;
}

bool is_one_of_a_launch() {
  try {
    const auto place = cluster::claimed_place(own_environment());
    return place && place->world > 1;
  } catch (const Error&) {
    return true;  // variables of a launcher that do not fit together
  }
}

// Folder of the step files. One that cannot be made keeps nobody from running the job; one that was made and
// got no file is removed at the end.
class StepsFolder {
 public:
  explicit StepsFolder(const config::Settings& options) {
    std::error_code problem;
    path_ = options.has("output") ? named_folder(options.text("output"), made_, problem)
                                  : new_folder(run_id_, made_, problem);
    if (!problem && ::access(path_.c_str(), W_OK | X_OK) != 0)
      problem = std::error_code(errno, std::generic_category());
    if (problem) problem_ = problem.message();
    path_ = fs::absolute(path_);
    if (!problem) take_lock();
  }
  StepsFolder(const StepsFolder&) = delete;
  StepsFolder& operator=(const StepsFolder&) = delete;
  ~StepsFolder() {
    std::error_code not_empty;
    if (made_) fs::remove(path_, not_empty);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] const std::string& run_id() const { return run_id_; }
  // Why it cannot be written; empty if it can.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  // Two jobs in one folder would be taken for one. Ranks of one launch may each have an attach of their own.
  void take_lock() {
    lock_ =
        FileDescriptor(::open((path_ / ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
    const int kind = is_one_of_a_launch() ? LOCK_SH : LOCK_EX;
    if (lock_ && ::flock(lock_.get(), kind | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw Error(ErrorCode::kUsage,
                  fmt::format("attach: another job writes into {}; name another folder with "
                              "--output",
                              shown_path(path_.string())));
  }

  std::string run_id_ = result::new_run_id();
  fs::path path_;
  FileDescriptor lock_;
  bool made_ = false;
  std::string problem_;
};

struct JobTotals {
  std::map<std::int64_t, attach::RankTotals> ranks;  // the newest start of each
  std::map<std::int64_t, std::int64_t> starts;
  std::int64_t world = 1;
  std::vector<std::string> remarks;

  [[nodiscard]] std::uint64_t most_steps() const {
    std::uint64_t most = 0;
    for (const auto& [rank, totals] : ranks) most = std::max(most, totals.steps);
    return most;
  }
};

void add_loss(const attach::RankTotals& rank, JobTotals& job) {
  if (rank.full) job.remarks.push_back(fmt::format("{}: full; later steps are missing", rank.file));
  if (rank.lost > 0)
    job.remarks.push_back(fmt::format("{}: {} found no room, and parts of its steps may be too short",
                                      rank.file, plural(static_cast<std::int64_t>(rank.lost), "scope")));
}

// Says which ranks were started more than once: their other files are in no figure.
void add_restarts(JobTotals& job) {
  std::int64_t ranks = 0, starts = 0;
  for (const auto& [rank, count] : job.starts) ranks += count > 1 ? 1 : 0, starts = std::max(starts, count);
  if (ranks == 0) return;
  const auto who =
      ranks == 1 ? std::string("1 rank was started") : fmt::format("{} ranks were started up to", ranks);
  job.remarks.push_back(fmt::format("{} {} times; the figures are of the newest start", who, starts));
}

// Processes whose rank nobody said are no starts of one rank: without ranks, the one with most steps counts,
// as in the study.
void add_processes(std::vector<attach::RankTotals> known, std::vector<attach::RankTotals> others,
                   JobTotals& job) {
  if (known.empty() && !others.empty()) {
    const auto most = std::ranges::max_element(others, {}, &attach::RankTotals::steps);
    known.push_back(*most);
    others.erase(most);
  }
  for (const auto& rank : known) {
    auto& newest = job.ranks.try_emplace(rank.rank, rank).first->second;
    if (newest.started_ns < rank.started_ns) newest = rank;
    ++job.starts[rank.rank];
    job.world = std::max(job.world, rank.world);
  }
  if (!others.empty())
    job.remarks.push_back(fmt::format("{} of processes without a rank {} in no figure",
                                      plural(std::ssize(others), "file"), others.size() == 1 ? "is" : "are"));
}

JobTotals job_totals(const fs::path& folder) {
  JobTotals job;
  std::vector<attach::RankTotals> known, others;
  for (const auto& one : attach::step_totals(folder)) {
    if (one.problem.empty())
      (one.rank_known ? known : others).push_back(one);
    else
      job.remarks.push_back(fmt::format("{}: {}", one.file, one.problem));
  }
  add_processes(std::move(known), std::move(others), job);
  for (const auto& [number, rank] : job.ranks) add_loss(rank, job);
  add_restarts(job);
  return job;
}

std::string seen_words(const JobTotals& job, const fs::path& folder) {
  const auto ranks = std::ssize(job.ranks);
  return fmt::format(
      "{} of {}{} in {}", plural(static_cast<std::int64_t>(job.most_steps()), "step"), plural(ranks, "rank"),
      ranks < job.world ? fmt::format(" (of {} in the job)", job.world) : "", shown_path(folder.string()));
}

// The study's sentence, as of `profile --from`; else why there is none. Empty if it is of a part of the
// steps.
std::string study_words(const JobStudy& of_job) {
  if (!of_job.problem.empty()) return "not explained: " + of_job.problem;
  return of_job.study && of_job.whole ? report::answer_of(*of_job.study).sentence : "";
}

std::string nothing_words(const StepsFolder& folder) {
  if (!folder.problem().empty())
    return fmt::format(
        "nothing was recorded: the folder {} cannot be written: {}. Name another with --output.",
        shown_path(folder.path().string()), folder.problem());
  if (!fs::exists(folder.path()))
    return fmt::format("nothing is left: the folder {} was removed while the job ran.",
                       shown_path(folder.path().string()));
  return "nothing was recorded. A line \"not attached\" above says why. Without one, no Python process of "
         "this command imported torch and made an optimizer step while it could be watched: Python's "
         "options -I, -E and -S keep the hook out, and so does a command that sets PYTHONPATH itself.";
}

// Says in words what was seen, so that a job of which nothing was seen does not look like a healthy one.
std::string closing_words(const StepsFolder& steps, const JobStudy& of_job) {
  const auto& folder = steps.path();
  const auto job = job_totals(folder);
  std::vector<std::string> sentences;
  if (job.ranks.empty()) {
    sentences.push_back(nothing_words(steps));
  } else if (job.most_steps() == 0) {
    sentences.push_back(
        fmt::format("error: {} of {} ranks were watched, and none made an optimizer step that could be seen.",
                    job.ranks.size(), job.world));
  } else {
    sentences.push_back(seen_words(job, folder) + ".");
    if (const auto study = study_words(of_job); !study.empty()) sentences.push_back(as_sentence(study));
  }
  for (const auto& remark : job.remarks) sentences.push_back(as_sentence(remark));
  if (job.most_steps() > 0)
    sentences.push_back(fmt::format("All figures: paceline profile --from {}", shown_path(folder.string())));
  return join(sentences, " ");
}

void say(const std::string& words) {
  print(stderr, folded("paceline attach: " + words + "\n", STDERR_FILENO));
}

// Says what was seen. Returns the study; the exit code is the job's, whatever happens here.
JobStudy told_study(const StepsFolder& steps, bool quiet) try {
  auto of_job = study_of_job(steps.path());
  if (!quiet) say(closing_words(steps, of_job));
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
  keep_job(job, told_study(folder, console.quiet), console);
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
