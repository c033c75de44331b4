// SPDX-License-Identifier: MIT
#include <fcntl.h>

#include "base/error.h"
#include "cli/command_table.h"
#include "run/spawn.h"
#include "run/worker.h"

namespace paceline::cli {

// Started by the coordinator only; by hand it has no pass to read.
ExitCode worker_command(const Context&) {
  if (::fcntl(run::kSpecFd, F_GETFD) < 0 || ::fcntl(run::kRecordFd, F_GETFD) < 0)
    throw Error(ErrorCode::kUsage,
                "'paceline worker' is started by paceline itself; use 'paceline run' or 'paceline infer'");
  return static_cast<ExitCode>(run::worker_main(run::kSpecFd, run::kRecordFd));
}

}  // namespace paceline::cli
