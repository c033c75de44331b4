// SPDX-License-Identifier: MIT
#include "process/worker_end.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/units.h"

namespace paceline::process {
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

// Signals that no program raises by a fault of its own.
constexpr SignalWords kFromOutside[] = {
    {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}, {SIGHUP, "SIGHUP"}, {SIGQUIT, "SIGQUIT"}};

// The dynamic loader's, of a library that does not fit.
constexpr std::string_view kNoRoom[] = {"failed to map segment", "Cannot allocate memory",
                                        "Failed to allocate", "there is not enough memory"};

}  // namespace

std::string signal_words(int signal) {
  for (const auto& row : kSignals)
    if (row.signal == signal) return std::string(row.words);
  return fmt::format("signal {} ({})", signal, strsignal(signal));
}

Verdict explain_end(const pass::PassReport& report, int status, const std::optional<std::string>& oom) {
  const auto phase = fmt::format("while in phase '{}'", report.phase);
  if (!report.error_code.empty()) return {report.error_code, report.error};
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && oom)
    return {"oom", fmt::format("killed by the kernel's out-of-memory killer {} ({}); use smaller batches "
                               "or messages, or raise the memory limit",
                               phase, *oom)};
  const auto* const outside = std::ranges::find(kFromOutside, WTERMSIG(status), &SignalWords::signal);
  if (WIFSIGNALED(status) && outside != std::end(kFromOutside))
    return {"killed", fmt::format("killed from outside ({}) {}", outside->words, phase)};
  if (WIFSIGNALED(status))
    return {"crash", fmt::format("the worker died of {} {}{}", signal_words(WTERMSIG(status)), phase,
                                 address_limit_words())};
  return {"exit", fmt::format("the worker ended early (exit code {}) {}", WEXITSTATUS(status), phase)};
}

bool lacks_room(const std::string& message) {
  return std::any_of(std::begin(kNoRoom), std::end(kNoRoom),
                     [&](const std::string_view words) { return message.find(words) != std::string::npos; });
}

std::string address_limit_words() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return fmt::format("; the address space of a process is limited to {} (ulimit -v): raise the limit",
                     format_bytes(static_cast<double>(limit.rlim_cur)));
}

}  // namespace paceline::process
