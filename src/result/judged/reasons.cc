// SPDX-License-Identifier: MIT
#include "result/judged/reasons.h"

#include <algorithm>
#include <array>

#include "result/stored/case_result.h"

namespace paceline::result {
namespace {

using enum Again;
using enum ExitCode;

constexpr bool kSkips = true, kFails = false;
constexpr bool kRestarts = true, kEnds = false;

constexpr std::array kReasons{
    // Reasons that a worker reports itself.
    Reason{"config", "an option does not fit the model or this machine", kFails, kEnds, kUsage,
           ErrorCode::kUsage, kNewRun,
           "Change the option that the reason names, and start a new run; --resume keeps the options as they "
           "were."},
    Reason{"data", "a file of the user's is not what it should be", kFails, kEnds, kUsage, ErrorCode::kData,
           kAfterCure, "Fix what the reason names, then measure again with: "},
    Reason{"io", "the file system refused", kFails, kRestarts, kUsage, ErrorCode::kIo, kAfterCure,
           "Fix what the system refuses (space, permissions), then measure again with: "},
    Reason{"unsupported", "this machine or engine cannot do it", kSkips, kEnds, kSkipped,
           ErrorCode::kUnsupported},
    Reason{"unavailable", "a library, a plug-in or a device is missing", kSkips, kRestarts, kSkipped,
           ErrorCode::kUnavailable},
    Reason{"error", "the library, or training, reported an error", kFails, kRestarts},
    // How a worker ended.
    Reason{"crash", "the worker died of a signal that it raised", kFails, kRestarts},
    Reason{"oom", "memory ran out", kFails, kRestarts},
    Reason{"killed", "the worker was killed from outside", kFails, kRestarts},
    Reason{"timeout", "the worker sent no result in time (timeout_s)", kFails, kRestarts, kWorkloadFailed,
           ErrorCode::kTimeout},
    Reason{"exit", "the worker ended before it was done", kFails, kRestarts},
    Reason{"protocol", "the worker sent something that is not a record", kFails, kRestarts},
    // How ranks and instances ended.
    Reason{"peer", "ranks that another process started have failed", kFails, kRestarts},
    Reason{"hung", "a rank stopped answering", kFails, kRestarts},
    Reason{"instance", "an instance died while requests were served", kFails},
    // Reasons that the case's result gives.
    Reason{"accuracy", "outputs differ from the reference by more than the limits", kFails, kEnds,
           kGateFailed},
    Reason{"precision", "the engine ran another precision than the one asked for", kFails, kEnds, kGateFailed,
           ErrorCode::kInternal, kNewRun,
           "Ask for a precision that this engine runs in, and start a new run."},
    Reason{"threads", "the engine runs with another number of threads", kFails, kEnds, kWorkloadFailed,
           ErrorCode::kInternal, kNewRun, "Ask for another number of threads, and start a new run."},
    Reason{"reference",
           "the reference could not run, as for an earlier case or because its engine cannot run the file",
           kFails, kEnds, kWorkloadFailed, ErrorCode::kInternal, kAfterChange},
    // Why nothing was measured.
    Reason{"not_available_yet", "this version cannot do it", kSkips, kEnds, kSkipped, ErrorCode::kUnsupported,
           kAfterChange},
    Reason{"interrupted", "the run was interrupted before a repetition was finished", kSkips, kEnds,
           kInterrupted},
    Reason{kNotMeasured, "the run ended before the case was measured, or `--only` left it out", kSkips, kEnds,
           kSkipped},
    Reason{kTrained, "training was finished before, so that no step was left to time", kSkips, kEnds, kOk},
};

constexpr const Reason& row(std::string_view code) {
  return *std::find_if(kReasons.begin(), kReasons.end(), [&](const Reason& r) { return r.code == code; });
}
constexpr const Reason& kError = row("error");

}  // namespace

std::span<const Reason> reasons() {
  return kReasons;
}

const Reason& reason_of(std::string_view code) {
  const auto found =
      std::find_if(kReasons.begin(), kReasons.end(), [&](const Reason& r) { return r.code == code; });
  return found == kReasons.end() ? kError : *found;
}

std::string_view reason_code_of(ErrorCode error) {
  if (error == ErrorCode::kInternal || error == ErrorCode::kTimeout) return kError.code;
  if (error == ErrorCode::kConfig) error = ErrorCode::kUsage;  // a plan's mistake is an option's
  const auto found =
      std::find_if(kReasons.begin(), kReasons.end(), [&](const Reason& r) { return r.error == error; });
  return found->code;
}

}  // namespace paceline::result
