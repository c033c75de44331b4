// SPDX-License-Identifier: MIT
#include "cli/attach/job_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#include "analysis/traces/attached_study.h"
#include "attach/step_file.h"
#include "attach/step_header.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;
using analysis::traces::TraceStudy;

constexpr std::uint64_t kNewest = 4096;               // records of each rank: hundreds of steps
constexpr std::int64_t kShortest_ns = 1'000'000'000;  // between two looks
constexpr std::int64_t kCostOf = 200;                 // a look takes one part in this many of the time
constexpr double kWorthTelling = 0.05;                // of a step
constexpr std::size_t kLabel = 60;                    // bytes of a command

std::int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

FileDescriptor lock_in(const fs::path& folder) {
  return FileDescriptor(::open((folder / ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
}

std::vector<attach::StepFile> newest_in(const fs::path& folder) {
  std::vector<attach::StepFile> files;
  for (const auto& path : attach::step_files(folder)) files.push_back(attach::newest_steps(path, kNewest));
  return files;
}

// Own time of a step of the typical rank, in ns.
double own_ns(const result::StepCosts& costs) {
  double sum = 0;
  for (const auto part : result::kOwnParts) sum += costs.own_ns[part].value.value().value_or(0);
  return sum;
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
  record.n = study.last_step + 1;
  record.step = study.last_step;
  record.p50_ns = training.ranks.at(study.typical).parts.step_ns;
  record.elapsed_s = *study.step_ns * 1e-9 * static_cast<double>(record.n);
  auto& steps = record.steps.emplace();
  steps.loss = Number::missing("a job of another program");
  steps.slowest = slowest_of(training), steps.shares = training.shares;
  return record;
}

std::string label_of(const std::vector<std::string>& command) {
  const auto is_script = [](const std::string& word) { return word.ends_with(".py"); };
  const auto script = std::ranges::find_if(command, is_script);
  const auto words = script == command.end() ? join(command, " ") : fs::path(*script).filename().string();
  return shown_value(words, kLabel);
}

JobWatch::JobWatch(const fs::path& folder, const std::vector<std::string>& command, bool tell)
    : folder_(folder), tell_(tell), lock_(lock_in(folder)), live_(folder) {
  live_.run_begins({.experiment_name = "attach", .run_dir = folder.string(), .cases = 1});
  live_.pass_begins({.label = label_of(command), .kind = "attached"});
  thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

JobWatch::~JobWatch() {
  thread_.request_stop();
  thread_.join();
  std::error_code ignored;
  if (lock_) fs::remove(folder_ / ".lock", ignored);
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
  std::vector<std::string> left_out;
  auto ranks = analysis::traces::attached_ranks(newest_in(folder_), left_out);
  if (ranks.empty()) return;
  const auto study = analysis::traces::study_of(std::move(ranks));
  auto record = progress_of(study);
  if (!record) return;
  live_.progress(*record);
  tell_of_late_rank(study);
} catch (const std::exception&) {
  return;
}

void JobWatch::tell_of_late_rank(const TraceStudy& study) {
  const auto& late = study.job.training()->late;
  const bool worth =
      !late.empty() && late.front().cost_ns && *late.front().cost_ns >= kWorthTelling * *study.step_ns;
  const auto rank = worth ? std::optional(late.front().rank) : std::nullopt;
  if (std::exchange(told_, rank) == rank || !rank || !tell_) return;
  print(stderr,
        folded(fmt::format("paceline attach: since step {}, the others wait {} per step for rank {}: {}\n",
                           late.front().since_step, format_duration_ns(*late.front().cost_ns), *rank,
                           late_words(late.front())),
               STDERR_FILENO));
}

}  // namespace paceline::cli
