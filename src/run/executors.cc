// SPDX-License-Identifier: MIT
#include "run/executors.h"

#include "run/ranks/launch.h"
#include "run/ranks/ranks.h"
#include "run/ranks/restarts.h"
#include "workload/worker_main.h"

namespace paceline::run {
namespace {

using process::OnProgress;
using process::WorkerOutcome;
using process::WorkerRequest;

class RealExecutor : public process::PassExecutor {
 public:
  RealExecutor(Launch* launch, bool in_process) : launch_(launch), in_process_(in_process) {}

  WorkerOutcome run(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                    const OnProgress& on_progress) override {
    const auto& traits = pass::traits_of(request.spec.kind);
    if (in_process_ && traits.timed) return workload::run_in_process(request, interrupt, on_progress);
    if (!traits.by_ranks) return process::run_worker(request, interrupt, on_progress);
    if (launch_) return launch_->run_pass(request.number, request, interrupt, on_progress);
    const auto start = [&](const WorkerRequest& r) { return run_ranks(r, {}, interrupt, on_progress); };
    return traits.timed ? run_restarting(request, start, on_progress) : start(request);
  }

 private:
  Launch* launch_;
  bool in_process_;
};

}  // namespace

std::unique_ptr<process::PassExecutor> make_executor(Launch* launch, bool in_process) {
  return std::make_unique<RealExecutor>(launch, in_process);
}

}  // namespace paceline::run
