// SPDX-License-Identifier: MIT
#include "cli/attach/job_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <utility>
#include <vector>

#include "attach/step_header.h"
#include "attach/trace_wish.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "base/thread_cpu.h"
#include "base/units.h"
#include "cli/attach/job_study.h"
#include "result/figures/late_rank.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;
using analysis::traces::TraceStudy;

constexpr double kFewest = 200, kMost = 4000;                   // steps of a look
constexpr double kJudged_ns = result::kLongestFavourNs / 0.75;  // of steps: in fewer, who is late stays open
constexpr std::int64_t kShortest_ns = 1'000'000'000;            // between two looks
constexpr std::int64_t kCostOf = 200;  // a look takes one part in this many of the time
constexpr std::int64_t kMostTraces = 3, kEnoughSteps = 20;
constexpr double kAhead_ns = 1e9;       // until a trace begins: every rank must have been asked by then
constexpr double kLonger = 1.15;        // a step, beyond the interval of what it took before
constexpr double kWorthTelling = 0.05;  // of a step
constexpr std::size_t kLabel = 60;      // bytes of a command

FileDescriptor lock_in(const fs::path& folder) {
  return FileDescriptor(::open((folder / ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
}

// Own time of a step of the typical rank, in ns.
double own_ns(const result::StepCosts& costs) {
  double sum = 0;
  for (const auto part : result::kOwnParts) sum += costs.own_ns[part].value.value().value_or(0);
  return sum;
}

fs::path trace_folder(const fs::path& folder, std::size_t number) {
  return folder / fmt::format("trace-{}", number);
}

std::int64_t traces_in(const fs::path& folder) {
  std::error_code none;
  return std::ranges::count_if(fs::directory_iterator(folder, none),
                               [](const auto& entry) { return entry.path().extension() == ".json"; });
}

std::string late_words(const result::LateRank& late) {
  return late.causes.empty() ? "late in " + late.late_in
                             : fmt::format("late in {}: {}", late.late_in, late.causes.front().evidence);
}

std::optional<pass::SlowestRank> slowest_of(const result::Training& training) {
  const double own = own_ns(training.costs);
  if (training.late.empty() || own <= 0 || !training.late.front().mean_late_ns) return std::nullopt;
  const auto& late = training.late.front();
  return pass::SlowestRank{late.rank, *late.mean_late_ns / own, late_words(late)};
}

}  // namespace

std::optional<pass::ProgressRecord> progress_of(const TraceStudy& study) {
  const auto& training = *study.job.training();
  if (study.steps < 1 || !study.step_ns) return std::nullopt;
  pass::ProgressRecord record;
  record.n = study.steps;
  record.step = study.last_step;
  record.p50_ns = training.ranks.at(study.typical).parts.step_ns;
  record.elapsed_s = *study.step_ns * 1e-9 * static_cast<double>(record.n);
  auto& steps = record.steps.emplace();
  steps.loss = steps.samples_per_s = Number::missing("a job of another program");
  steps.slowest = slowest_of(training), steps.shares = training.shares;
  return record;
}

std::vector<std::string>::const_iterator script_in(const std::vector<std::string>& command) {
  return std::ranges::find_if(command, [](const std::string& word) { return word.ends_with(".py"); });
}

std::string label_of(const std::vector<std::string>& command) {
  const auto script = script_in(command);
  const auto words = script == command.end() ? join(command, " ") : fs::path(*script).filename().string();
  return shown_value(words, kLabel);
}

JobWatch::JobWatch(const fs::path& folder, const std::vector<std::string>& command, const WatchWishes& wishes)
    : folder_(folder),
      wishes_(wishes),
      lock_(lock_in(folder)),
      live_(folder),
      newest_(static_cast<std::size_t>(kFewest)) {
  live_.run_begins({.experiment_name = "attach", .run_dir = folder.string(), .cases = 1});
  live_.pass_begins({.label = label_of(command), .kind = "attached"});
  thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

JobWatch::~JobWatch() {
  thread_.request_stop();
  thread_.join();
  std::error_code ignored;
  if (lock_) fs::remove(folder_ / ".lock", ignored);
  try {
    if (const auto missing = missing_traces(); !missing.empty() && wishes_.tell)
      print(stderr, "paceline attach: " + missing +
                        ": the job ended before it was written, or a line above says why\n");
  } catch (const std::exception&) {
    return;
  }
}

void JobWatch::follow(const std::stop_token& stop) {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // the main thread passes signals on
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  std::int64_t pause_ns = kShortest_ns;
  while (
      !wake.wait_for(lock, stop, std::chrono::nanoseconds(pause_ns), [&] { return stop.stop_requested(); })) {
    if (stop.stop_requested()) return;
    const auto before = thread_cpu_ns();
    look();
    pause_ns = std::max(kShortest_ns, kCostOf * (thread_cpu_ns() - before));
  }
}

// A file that is being written may tell nothing yet, or be cut where it is read: the next look sees more.
void JobWatch::look() try {
  const auto study = study_of_newest(folder_, newest_);
  const auto record = study ? progress_of(*study) : std::nullopt;
  if (!record) return;
  live_.progress(*record);
  newest_ = static_cast<std::size_t>(std::clamp(kJudged_ns / *record->p50_ns, kFewest, kMost));
  auto change = change_in(*study);
  if (change.empty()) return;
  if (const auto trace = trace_steps(*record->p50_ns); !trace.empty())
    change += fmt::format("; the operators of {} will be in {}", plural(wishes_.trace_steps, "step"), trace);
  if (wishes_.tell) print(stderr, folded("paceline attach: " + change + "\n", STDERR_FILENO));
} catch (const std::exception&) {
  return;
}

std::string JobWatch::change_in(const TraceStudy& study) {
  const auto longer = longer_steps_in(study);
  const auto late = late_rank_in(study);
  return late.empty() ? longer : late;
}

std::string JobWatch::late_rank_in(const TraceStudy& study) {
  const auto& late = study.job.training()->late;
  const bool worth =
      !late.empty() && late.front().cost_ns && *late.front().cost_ns >= kWorthTelling * *study.step_ns;
  const auto rank = worth ? std::optional(late.front().rank) : std::nullopt;
  if (std::exchange(late_, rank) == rank || !rank) return {};
  const auto& one = late.front();
  // A rank that is late from the first of the newest steps on may have been late before.
  const auto since =
      one.since_step > one.first_step
          ? fmt::format("since step {}", one.since_step)
          : fmt::format("in the {} up to step {}", plural(study.steps, "step"), study.last_step);
  return fmt::format("{}, the others wait {} per step for rank {}: {}", since,
                     format_duration_ns(*one.cost_ns), *rank, late_words(one));
}

// The newest steps against those of the first look that had enough, or that were told last.
std::string JobWatch::longer_steps_in(const TraceStudy& study) {
  const auto& p50 = study.job.headline.p50_ns;
  if (!p50.ci_low || !p50.ci_high || study.steps < kEnoughSteps) return {};
  const auto before = usual_ns_;
  if (!before || *p50.ci_high < *before) usual_ns_ = p50.ci_high;
  if (!before || *p50.ci_low < kLonger * *before) return {};
  usual_ns_ = p50.ci_high;
  return fmt::format("the median step takes {} now; before, its interval ended at {}",
                     format_duration_ns(*p50.value), format_duration_ns(*before));
}

std::string JobWatch::trace_steps(double step_ns) {
  if (wishes_.trace_steps == 0 || std::ssize(traces_) == kMostTraces) return {};
  const auto clock = attach::newest_clock(folder_);
  if (clock < traced_until_ && clock >= asked_at_) return {};  // a restarted rank counts from 0
  const auto after = clock + 2 + static_cast<std::uint64_t>(kAhead_ns / std::max(step_ns, 1.0));
  const auto steps = static_cast<std::uint64_t>(wishes_.trace_steps);
  const auto number = traces_.size() + 1;
  const auto ranks = attach::ask_for_trace(folder_, {.number = number, .after = after, .steps = steps});
  if (ranks == 0) return {};
  traces_.push_back(ranks);
  asked_at_ = clock, traced_until_ = after + steps;
  return shown_path(trace_folder(folder_, number).string());
}

std::string JobWatch::missing_traces() const {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < traces_.size(); ++i)
    if (const auto found = traces_in(trace_folder(folder_, i + 1)); found < traces_[i])
      missing.push_back(fmt::format("trace-{} is of {} of {}", i + 1, found, plural(traces_[i], "rank")));
  return join(missing, ", ");
}

}  // namespace paceline::cli
