// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "cli/context.h"
#include "cli/exit_rules.h"
#include "result/run_directory.h"

namespace paceline::cli {

struct FinishOptions {
  std::vector<std::string> gates;
  std::string junit;  // file; empty: none
  ExitOptions exit;
};

// What follows the last pass: findings, gates, exit code, the stored summary, report.html, and the table for
// people.
ExitCode finish_run(result::RunResult& run, const result::RunDirectory& directory, const Console& console,
                    const FinishOptions& options);

}  // namespace paceline::cli
