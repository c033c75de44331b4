// SPDX-License-Identifier: MIT
#include "cli/interrupts.h"

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "base/exit_code.h"

namespace paceline::cli {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<std::int64_t> asked_ns{0};  // when the first request came; 0: none did
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

// Launchers, `timeout` and shells send the signal of one request to the process and again to its group.
constexpr std::int64_t kOneRequestNs = 1'000'000'000;

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// Notes a request. True: an earlier one came a second ago or more.
bool asked_again() {
  const auto now = monotonic_ns();
  std::int64_t first = 0;
  const bool is_first = asked_ns.compare_exchange_strong(first, now);
  interrupted = true;
  return !is_first && now - first >= kOneRequestNs;
}

void on_signal(int) {
  // Workers have asked the kernel to be killed when this process dies.
  if (!asked_again()) return;
  constexpr std::string_view kWords =
      "\npaceline: interrupted twice, so it ends at once; a run keeps what was finished (run --resume DIR)\n";
  (void)!::write(STDERR_FILENO, kWords.data(), kWords.size());
  ::_exit(static_cast<int>(ExitCode::kInterrupted));
}

// A closing terminal may send two signals, its own and its shell's, so the second one does not count.
void on_hang_up(int) {
  asked_again();
}

// A signal that was ignored at the start (nohup) stays ignored.
bool is_ignored(int signal) {
  struct sigaction before {};
  return ::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

void install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigaction(signal, &action, nullptr);
}

void install_all(void (*on_request)(int), void (*on_lost_terminal)(int)) {
  for (const int signal : {SIGINT, SIGTERM}) install(signal, on_request);
  if (!is_ignored(SIGHUP)) install(SIGHUP, on_lost_terminal);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted = false;
  asked_ns = 0;
  install_all(on_signal, on_hang_up);
}
InterruptGuard::~InterruptGuard() {
  install_all(SIG_DFL, SIG_DFL);
}
const std::atomic<bool>& InterruptGuard::flag() {
  return interrupted;
}

}  // namespace paceline::cli
