// SPDX-License-Identifier: MIT
#pragma once
#include "base/exit_code.h"

namespace paceline::cli {

// Prints the exception that is being handled, and returns its exit code. To be called in a catch block.
ExitCode print_failure();

}  // namespace paceline::cli
