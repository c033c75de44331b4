// SPDX-License-Identifier: MIT
#include "host/noise/idle_gate.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/units.h"

namespace paceline::host {
namespace {

std::string cores_in_words(double cores) {
  return fmt::format("{:.{}f} cores", cores, cores < 0.1 ? 2 : 1);
}

std::string seconds_in_words(double seconds) {
  return fmt::format("{:g} s", seconds);
}

std::string busy_words(const IdleGateOptions& options, double cores) {
  return fmt::format("neighbours used {} in the last {}", cores_in_words(cores),
                     seconds_in_words(options.window_s));
}

std::string ending_words(const IdleGateReport& report) {
  const std::string waited = fmt::format("{:.{}f} s", report.waited_s, report.waited_s < 1 ? 2 : 0);
  switch (report.outcome) {
    case IdleOutcome::kQuiet:
      return fmt::format("quiet after {}", waited);
    case IdleOutcome::kStillBusy:
      return fmt::format("neighbours still use {} after {}; measuring anyway",
                         cores_in_words(*report.foreign_cores), waited);
    case IdleOutcome::kInterrupted:
      return fmt::format("waiting for quiet interrupted after {}", waited);
    case IdleOutcome::kCannotTell:
      break;
  }
  return fmt::format("cannot tell whether the machine is quiet: {}", report.foreign_cores.reason());
}

// Watches one window; false when interrupted.
bool look(const IdleGateOptions& options, const IdleGateSeams& seams, IdleGateReport& report) {
  const CpuUse before = seams.sample();
  if (!seams.sleep(options.window_s)) return false;
  const CpuUse after = seams.sample();
  report.foreign_cores = foreign_cores(before, after);
  report.waited_s += static_cast<double>(after.wall_ns - before.wall_ns) / 1e9;
  ++report.windows;
  return true;
}

// The outcome after the last window; none when another window is due.
std::optional<IdleOutcome> decide(const IdleGateOptions& options, const IdleGateReport& report) {
  if (!report.foreign_cores) return IdleOutcome::kCannotTell;
  if (*report.foreign_cores <= options.max_foreign_frac * options.allowed_cpus) return IdleOutcome::kQuiet;
  if (report.waited_s >= options.idle_wait_s) return IdleOutcome::kStillBusy;
  return std::nullopt;
}

}  // namespace

IdleGateSeams real_idle_gate_seams() {
  return {[] { return cpu_use_now(SystemFiles{}); },
          [](double seconds) {
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
            return true;
          }};
}

IdleGateReport wait_until_quiet(const IdleGateOptions& options,
                                const std::function<void(const std::string&)>& say,
                                const IdleGateSeams& seams) {
  IdleGateReport report;
  for (;;) {
    if (!look(options, seams, report)) {
      report.outcome = IdleOutcome::kInterrupted;
      break;
    }
    if (const auto outcome = decide(options, report)) {
      report.outcome = *outcome;
      break;
    }
    if (report.windows == 1) {
      say(fmt::format("{}; waiting for quiet (up to {})", busy_words(options, *report.foreign_cores),
                      seconds_in_words(options.idle_wait_s)));
    }
  }
  const bool quiet_at_once = report.outcome == IdleOutcome::kQuiet && report.windows == 1;
  if (quiet_at_once) return report;
  report.words = ending_words(report);
  say(report.words);
  return report;
}

}  // namespace paceline::host
