// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "cli/answer_output.h"
#include "cli/context.h"
#include "cli/exit_rules.h"
#include "cli/run/next_command.h"
#include "config/flags.h"
#include "result/run_directory.h"

namespace paceline::cli {

struct FinishOptions {
  std::vector<std::string> gates;
  const config::Settings& settings;         // of the command: files that are written besides
  std::string bottlenecks;                  // target of profile; empty: they are not printed
  std::optional<AnswerOutput> self_test{};  // where its answer goes; none: it is no self-test
  // Commands that continue a first look.
  std::function<NextCommands(const result::RunResult&)> next{};
  ExitOptions exit;
  std::filesystem::path results{};  // folder of runs with the index; empty: the run is not added
};

// Does what follows the last pass: findings, gates, exit code, stored summary, report.html, table.
ExitCode finish_run(result::RunResult& run, const result::RunDirectory& directory, const Console& console,
                    const FinishOptions& options);

// Error(kUsage) for files such as that of --junit that could not be written at the end; makes their
// folders.
void check_output_files(const config::FlagSet& flags);

}  // namespace paceline::cli
