// SPDX-License-Identifier: MIT
#include "cli/interrupts.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "base/exit_code.h"

namespace paceline::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  // Workers have asked the kernel to be killed when this process dies.
  if (!interrupted.exchange(true)) return;
  constexpr std::string_view kWords =
      "\npaceline: interrupted twice, so it ends at once; a run keeps what was finished (run --resume DIR)\n";
  (void)!::write(STDERR_FILENO, kWords.data(), kWords.size());
  ::_exit(static_cast<int>(ExitCode::kInterrupted));
}

// A closing terminal may send two signals, its own and its shell's, so the second one does not count.
void on_hang_up(int) {
  interrupted = true;
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
  install_all(on_signal, on_hang_up);
}
InterruptGuard::~InterruptGuard() {
  install_all(SIG_DFL, SIG_DFL);
}
const std::atomic<bool>& InterruptGuard::flag() {
  return interrupted;
}

}  // namespace paceline::cli
