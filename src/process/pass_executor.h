// SPDX-License-Identifier: MIT
// The one way from whoever runs a plan to the processes that run its passes.
#pragma once
#include <atomic>
#include <vector>

#include "process/worker.h"

namespace paceline::process {

class PassExecutor {
 public:
  virtual ~PassExecutor() = default;
  // Runs the pass of `request` to its end, or stops it when `interrupt` becomes true. Failures are outcomes.
  virtual WorkerOutcome run(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                            const OnProgress& on_progress) = 0;
  // Runs timed passes that are compared, in turns of 50 ms where it can, else one after the other.
  virtual std::vector<WorkerOutcome> run_in_turns(const std::vector<HeardRequest>& passes,
                                                  const std::atomic<bool>& interrupt) {
    std::vector<WorkerOutcome> outcomes;
    for (const auto& pass : passes)
      outcomes.push_back(interrupt ? interrupted_before_start()
                                   : run(pass.request, interrupt, pass.on_progress));
    return outcomes;
  }
};

}  // namespace paceline::process
