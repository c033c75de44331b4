// SPDX-License-Identifier: MIT
// The one way from whoever runs a plan to the processes that run its passes.
#pragma once
#include <atomic>

#include "process/worker.h"

namespace paceline::process {

class PassExecutor {
 public:
  virtual ~PassExecutor() = default;
  // Runs the pass of `request` to its end, or stops it when `interrupt` becomes true. Failures are outcomes.
  virtual WorkerOutcome run(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                            const OnProgress& on_progress) = 0;
};

}  // namespace paceline::process
