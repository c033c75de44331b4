// SPDX-License-Identifier: MIT
// Runs the command that the command line names, and turns an error into an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <new>

#include "base/display_text.h"
#include "base/reading.h"
#include "base/text.h"
#include "cli/command_table.h"
#include "cli/exit_rules.h"
#include "cli/interrupts.h"
#include "config/diagnostic.h"

namespace {

using namespace paceline;

// The next file opened would get a closed standard descriptor, and text would be written into that file.
void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0)
      ::_exit(static_cast<int>(ExitCode::kUsage));
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

// Indents further lines, such as the end of a log: only our own lines begin with "paceline: ".
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
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(ExitCode::kUsage, io_error(e).what());
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
  // With these ignored, a closed pipe or a file at the limit of `ulimit -f` makes a write fail instead of
  // ending the process.
  for (const int signal : {SIGPIPE, SIGXFSZ})
    std::signal(signal, SIG_IGN);  // NOLINT(bugprone-signal-handler)
  return static_cast<int>(run({argv + (argc > 0 ? 1 : 0), argv + argc}));
}
