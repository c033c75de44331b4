// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <csignal>

#include "cli/command_table.h"
#include "cli/exit_rules.h"

int main(int argc, char** argv) {
  using namespace paceline;
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(bugprone-signal-handler): a closed pipe is an error we report
  try {
    return static_cast<int>(cli::dispatch({argv + 1, argv + argc}));
  } catch (const Error& e) {
    fmt::print(stderr, "paceline: {}\n", e.what());
    return static_cast<int>(cli::exit_code_of(e.code()));
  } catch (const std::exception& e) {
    fmt::print(stderr, "paceline: internal error: {}\n", e.what());
    return static_cast<int>(ExitCode::kWorkloadFailed);
  }
}
