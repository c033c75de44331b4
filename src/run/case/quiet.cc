// SPDX-License-Identifier: MIT
#include "run/case/quiet.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "host/machine/cpu_choice.h"
#include "host/noise/cpu_times.h"
#include "host/noise/idle_gate.h"

namespace paceline::run {
namespace {

constexpr double kFullCheckS = 1, kShortCheckS = 0.25;

// False: interrupted.
bool sleep_unless(const std::atomic<bool>& interrupt, double seconds) {
  for (; seconds > 0 && !interrupt; seconds -= 0.1)
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(0.1, seconds)));
  return !interrupt;
}

}  // namespace

bool wait_for_quiet(const config::Case& c, QuietCheck check, RunObserver& observer,
                    const std::atomic<bool>& interrupt) {
  host::IdleGateOptions gate;
  gate.idle_wait_s = c.settings.number("idle_wait_s");
  if (gate.idle_wait_s <= 0) return true;
  gate.allowed_cpus = static_cast<int>(host::allowed_cpus().size());
  gate.window_s = check == QuietCheck::kFull ? kFullCheckS : kShortCheckS;
  if (check == QuietCheck::kLook) gate.idle_wait_s = gate.window_s;
  auto seams = host::real_idle_gate_seams();
  seams.sleep = [&](double seconds) { return sleep_unless(interrupt, seconds); };
  const auto report = host::wait_until_quiet(
      gate, [&](const std::string& words) { observer.warning(words); }, seams);
  return report.outcome != host::IdleOutcome::kStillBusy;
}

bool was_quiet(const result::Noise& window) {
  const auto ticks = host::cpu_use_now(host::SystemFiles{}).ticks;
  if (!window.foreign_cpu_frac || !ticks) return false;
  const auto allowed = static_cast<double>(host::allowed_cpus().size());
  return *window.foreign_cpu_frac * ticks->cpus <= host::IdleGateOptions{}.max_foreign_frac * allowed;
}

}  // namespace paceline::run
