// SPDX-License-Identifier: MIT
// Runs the command that the command line names.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "cli/command_table.h"
#include "cli/failure.h"
#include "cli/run/stale_junit.h"

namespace {

using namespace paceline;

// The next file opened would get a closed standard descriptor, and text would be written into that file.
void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0)
      ::_exit(static_cast<int>(ExitCode::kUsage));
}

constexpr rlim_t kLeastStack = 1 << 20;  // engines end with SIGSEGV below half of it

// A thread's stack is as small as this limit, too.
bool has_stack() {
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= kLeastStack) return true;
  cli::print(stderr,
             fmt::format("paceline: the stack may have {} KiB here, and at least {} are needed; raise "
                         "the limit: ulimit -s 8192\n",
                         stack.rlim_cur >> 10, kLeastStack >> 10));
  return false;
}

bool reader_left() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

// Output that could not be written (a full disk) must not look like success; a closed pipe (`| head`) may.
ExitCode checked_output(ExitCode code) {
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!lost || reader_left()) return code;
  cli::print(stderr, "paceline: cannot write to standard output; is the disk full?\n");
  return code == ExitCode::kInterrupted ? code : ExitCode::kUsage;
}

ExitCode dispatched(const std::vector<std::string>& arguments) {
  try {
    return checked_output(cli::dispatch(arguments));
  } catch (const std::exception&) {
    return cli::print_failure();
  }
}

ExitCode run(const std::vector<std::string>& arguments) {
  const cli::StaleJunit junit(arguments);
  const auto code = dispatched(arguments);
  junit.end(code);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  if (!has_stack()) return static_cast<int>(ExitCode::kUsage);
  // With these ignored, a closed pipe or a file at the limit of `ulimit -f` makes a write fail instead of
  // ending the process.
  for (const int signal : {SIGPIPE, SIGXFSZ})
    std::signal(signal, SIG_IGN);  // NOLINT(bugprone-signal-handler)
  // A starter may have it ignored, and then no exit code of a child would be known.
  std::signal(SIGCHLD, SIG_DFL);
  return static_cast<int>(run({argv + (argc > 0 ? 1 : 0), argv + argc}));
}
