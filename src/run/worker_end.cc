// SPDX-License-Identifier: MIT
#include "run/worker_end.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <string_view>

namespace paceline::run {
namespace {

struct SignalWords {
  int signal;
  std::string_view words;
};
constexpr SignalWords kSignals[] = {{SIGSEGV, "a segmentation fault (SIGSEGV)"},
                                    {SIGABRT, "an abort (SIGABRT)"},
                                    {SIGBUS, "a bus error (SIGBUS)"},
                                    {SIGFPE, "an arithmetic fault (SIGFPE)"},
                                    {SIGILL, "an illegal instruction (SIGILL): built for another CPU?"}};

std::string signal_words(int signal) {
  for (const auto& row : kSignals)
    if (row.signal == signal) return std::string(row.words);
  return fmt::format("signal {} ({})", signal, strsignal(signal));
}

}  // namespace

Verdict explain_end(const workload::PassReport& report, int status, const std::optional<std::string>& oom) {
  const auto phase = fmt::format("while in phase '{}'", report.phase);
  if (!report.error_code.empty()) return {report.error_code, report.error};
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && oom)
    return {"oom", fmt::format("killed by the kernel's out-of-memory killer {} ({}); use a smaller batch or "
                               "raise the memory limit",
                               phase, *oom)};
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM))
    return {"killed", fmt::format("killed by somebody ({}) {}",
                                  WTERMSIG(status) == SIGKILL ? "SIGKILL" : "SIGTERM", phase)};
  if (WIFSIGNALED(status))
    return {"crash", fmt::format("the worker died of {} {}", signal_words(WTERMSIG(status)), phase)};
  return {"exit", fmt::format("the worker ended early (exit code {}) {}", WEXITSTATUS(status), phase)};
}

}  // namespace paceline::run
