// SPDX-License-Identifier: MIT
#include "cli/run/launch_start.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "base/clock.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/interrupts.h"
#include "cluster/roll_call.h"

namespace paceline::cli {
namespace {

using std::chrono::milliseconds;

// A launcher that checks every tenth of a second must see the failed rank first.
constexpr milliseconds kAfterThePeer{1500};
constexpr double kReportS = 10;     // rank 0 may still be reading its plan
constexpr double kLateReportS = 1;  // to a rank 0 that has kept this process waiting in vain
constexpr double kSilentS = 5;

bool is_timeout(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  return ours && ours->code() == ErrorCode::kTimeout;
}

}  // namespace

LaunchStart::LaunchStart(const cluster::LaunchPlace& place) : place_(place) {
  if (place.leads()) notes_.emplace(place);
}

void LaunchStart::end(const std::exception& error) {
  const auto reason = plain_reason(error);
  if (!met_ && !InterruptGuard::flag()) write_error_file(reason);
  if (notes_ && notes_->let_go()) return let_the_peer_end_first();
  if (met_ || notes_ || InterruptGuard::flag()) return;
  const auto self = cluster::this_process(place_.rank, place_.world, {});
  cluster::leave_note(place_, fmt::format("{} cannot start: {}", cluster::words(self), reason),
                      is_timeout(error) ? kLateReportS : kReportS, InterruptGuard::flag());
}

void let_the_peer_end_first() {
  std::this_thread::sleep_for(kAfterThePeer);
}

void write_error_file(const std::string& reason) {
  const char* file = std::getenv("TORCHELASTIC_ERROR_FILE");
  if (!file || !*file) return;
  const nlohmann::json extra{{"timestamp", fmt::format("{}", std::time(nullptr))}, {"py_callstack", reason}};
  const nlohmann::json error{{"message", {{"message", reason}, {"extraInfo", extra}}}};
  try {
    write_file_atomic(file, error.dump());
  } catch (const Error&) {
    return;  // only a convenience for the launcher; the failure itself is reported
  }
}

Patience::Patience(double limit_s, std::function<void(const std::string& left)> say)
    : thread_([this, limit_s, say = std::move(say)](const std::stop_token& over) {
        std::unique_lock lock(mutex_);
        const auto silent = std::chrono::duration<double>(kSilentS);
        const SteadyClock clock;
        for (const auto begin = clock.now_ns();;) {
          over_.wait_for(lock, over, silent, [] { return false; });
          const double left = limit_s - static_cast<double>(clock.now_ns() - begin) * 1e-9;
          if (over.stop_requested() || left <= 0) return;
          say(format_time_left(left) + " left");
        }
      }) {}

}  // namespace paceline::cli
