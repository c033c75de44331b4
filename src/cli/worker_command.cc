// SPDX-License-Identifier: MIT
#include <fcntl.h>

#include "base/error.h"
#include "cli/command_table.h"
#include "process/quick_exit.h"
#include "process/spawn.h"
#include "workload/worker_main.h"

namespace paceline::cli {

// The command `worker`, which the coordinator starts; by hand it has no pass to read.
ExitCode worker_command(const Context&) {
  if (::fcntl(process::kSpecFd, F_GETFD) < 0 || ::fcntl(process::kRecordFd, F_GETFD) < 0)
    throw Error(ErrorCode::kUsage,
                "'paceline worker' is started by paceline itself; use 'paceline run' or 'paceline infer'");
  const int code = workload::worker_main(process::kSpecFd, process::kRecordFd);
  process::exit_without_destructors(code);
  return static_cast<ExitCode>(code);
}

}  // namespace paceline::cli
