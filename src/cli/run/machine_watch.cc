// SPDX-License-Identifier: MIT
#include "cli/run/machine_watch.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <optional>

#include "base/display_text.h"
#include "base/error.h"
#include "monitor/recording.h"
#include "monitor/source.h"
#include "monitor/view.h"
#include "plugin/registry.h"

namespace paceline::cli {
namespace {

constexpr std::chrono::milliseconds kPeriod{1000};

// False: it was asked to stop.
bool sleep_until(std::chrono::steady_clock::time_point due, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any woken;
  woken.wait_until(lock, stop, due, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

MachineWatch::MachineWatch(const std::filesystem::path& run_dir, const Console& console, ProgressView& view)
    : file_(monitor::next_recording_of_run(run_dir)),
      console_(console),
      view_(view),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

MachineWatch::~MachineWatch() {
  thread_.request_stop();
  thread_.join();
  view_.beside({});
}

void MachineWatch::watch(const std::stop_token& stop) try {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals belong to the main thread, which waits for them
  monitor::Recorder recorder(file_);
  const auto sources = monitor::all_sources(host::SystemFiles{}, plugin::plugin_dir(), kPeriod);
  std::optional<monitor::Snapshot> before;
  auto due = std::chrono::steady_clock::now();
  do {
    auto now = monitor::take_snapshot(sources);
    recorder.add(now);
    if (console_.terminal && !console_.quiet)
      view_.beside(monitor::machine_lines(now, before ? &*before : nullptr, console_.width - 1));
    before = std::move(now);
    due = std::max(due + kPeriod, std::chrono::steady_clock::now());
  } while (sleep_until(due, stop));
} catch (const std::exception& e) {
  view_.warning(fmt::format("--monitor: the machine is no longer watched: {}", plain_reason(e)));
}

}  // namespace paceline::cli
