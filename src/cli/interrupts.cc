// SPDX-License-Identifier: MIT
#include "cli/interrupts.h"

#include <unistd.h>

#include <csignal>

#include "base/exit_code.h"

namespace paceline::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  // Workers ask the kernel to be killed when this process dies.
  if (interrupted.exchange(true)) ::_exit(static_cast<int>(ExitCode::kInterrupted));
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted = false;
  install(on_signal);
}
InterruptGuard::~InterruptGuard() {
  install(SIG_DFL);
}
const std::atomic<bool>& InterruptGuard::flag() {
  return interrupted;
}

}  // namespace paceline::cli
