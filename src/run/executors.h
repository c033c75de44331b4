// SPDX-License-Identifier: MIT
// How passes are run for real: in a worker, in a worker per rank, or in this process.
#pragma once
#include <memory>

#include "process/pass_executor.h"

namespace paceline::run {

class Launch;

// `launch`: this process is one of several that start ranks; null: all ranks are started here. `in_process`:
// timed passes run in the calling process, for people who put their own profiler or debugger in front.
std::unique_ptr<process::PassExecutor> make_executor(Launch* launch, bool in_process);

}  // namespace paceline::run
