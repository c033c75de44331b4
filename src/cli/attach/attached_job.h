// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/own_environment.h"

// Starts a command as the shell would have, with two variables more, and ends as it ends.
namespace paceline::cli {

// <prefix>/lib/paceline/attach of the running executable: what PYTHONPATH of an attached job names first.
std::filesystem::path attach_folder();

struct JobEnd {
  int wait_status = 0;
  int asked_by = 0;  // the latest SIGINT, SIGTERM or SIGHUP while it ran; 0: none
};

// Variables that attach a job: PACELINE_ATTACH, and PYTHONPATH in front of what it was.
Environment attach_variables(const Environment& now, const std::filesystem::path& hook,
                             const std::filesystem::path& steps);

// Runs the command in this process's group and on its terminal, with its descriptors, and passes signals on
// but those of the terminal, which the job gets, too. It gets other signals to the group twice: who else was
// meant is not known. Throws Error(kUsage) if it cannot be started.
JobEnd run_attached(const std::vector<std::string>& command, const Environment& variables);

inline constexpr int kSignalBase = 128;  // of exit codes

// The exit code of a shell for a wait status: 128 and the signal for one that was ended.
int exit_code_of(int wait_status);

}  // namespace paceline::cli
