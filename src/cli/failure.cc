// SPDX-License-Identifier: MIT
#include "cli/failure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <new>

#include "base/display_text.h"
#include "base/process_limit.h"
#include "base/reading.h"
#include "base/text.h"
#include "cli/context.h"
#include "cli/exit_rules.h"
#include "cli/interrupts.h"
#include "config/diagnostic.h"

namespace paceline::cli {
namespace {

// Indents further lines, such as the end of a log: only our own lines begin with "paceline: ".
std::string indented(const std::string& message) {
  return join(split(message, '\n'), "\n  ");
}

ExitCode fail(ExitCode code, const std::string& message) {
  print(stderr, folded(for_terminal(fmt::format("paceline: {}", message)), STDERR_FILENO) + "\n");
  return InterruptGuard::flag() ? ExitCode::kInterrupted : code;
}

}  // namespace

ExitCode print_failure() {
  try {
    throw;
  } catch (const config::ConfigErrors& e) {
    return fail(exit_code_of(e.code()), e.what());
  } catch (const Error& e) {
    return fail(exit_code_of(e.code()), indented(e.what()));
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(ExitCode::kUsage, io_error(e).what());
  } catch (const std::bad_alloc& e) {
    return fail(ExitCode::kWorkloadFailed,
                fmt::format("{}; use smaller inputs or batches, or raise the memory limit", plain_reason(e)));
  } catch (const std::exception& e) {
    if (lacks_processes(e.what())) return fail(ExitCode::kWorkloadFailed, plain_reason(e));
    return fail(ExitCode::kWorkloadFailed, fmt::format("internal error: {}", indented(plain_reason(e))));
  }
}

}  // namespace paceline::cli
