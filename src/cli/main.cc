// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <new>

#include "base/display_text.h"
#include "base/text.h"
#include "cli/command_table.h"
#include "cli/exit_rules.h"
#include "cli/interrupts.h"
#include "config/diagnostic.h"

namespace {

using namespace paceline;

// A closed descriptor would go to the next file opened, and text would land in that file.
void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0)
      ::_exit(static_cast<int>(ExitCode::kUsage));
}

bool reader_left() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

// Output that found no room (a full disk) must not pass for success; a reader that left (`| head`) may.
ExitCode checked_output(ExitCode code) {
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!lost || reader_left()) return code;
  cli::print(stderr, "paceline: cannot write to standard output; is the disk full?\n");
  return code == ExitCode::kOk ? ExitCode::kUsage : code;
}

// Further lines, such as the end of a log, are indented: each "paceline: " at the begin of a line is ours.
std::string indented(const std::string& message) {
  return join(split(message, '\n'), "\n  ");
}

ExitCode fail(ExitCode code, const std::string& message) {
  cli::print(stderr, for_terminal(fmt::format("paceline: {}", message)) + "\n");
  return cli::InterruptGuard::flag() ? ExitCode::kInterrupted : code;
}

ExitCode run(const std::vector<std::string>& arguments) {
  try {
    return checked_output(cli::dispatch(arguments));
  } catch (const config::ConfigErrors& e) {
    return fail(cli::exit_code_of(e.code()), e.what());
  } catch (const Error& e) {
    return fail(cli::exit_code_of(e.code()), indented(e.what()));
  } catch (const std::bad_alloc& e) {
    return fail(ExitCode::kWorkloadFailed,
                fmt::format("{}; use smaller inputs or batches, or raise the memory limit", plain_reason(e)));
  } catch (const std::exception& e) {
    return fail(ExitCode::kWorkloadFailed, fmt::format("internal error: {}", indented(plain_reason(e))));
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  // A reader that left, or a file as large as `ulimit -f` allows, makes a write fail, and ends no process.
  for (const int signal : {SIGPIPE, SIGXFSZ})
    std::signal(signal, SIG_IGN);  // NOLINT(bugprone-signal-handler)
  return static_cast<int>(run({argv + (argc > 0 ? 1 : 0), argv + argc}));
}
