// SPDX-License-Identifier: MIT
#include "workload/training/fault.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace paceline::workload {
namespace {

using Kind = Fault::Kind;

// Spins on the CPUs that this process may use.
process::SpawnRequest spinning_shell() {
  process::SpawnRequest request;
  request.argv = {"/bin/sh", "-c", "while :; do :; done"};
  request.log = "/dev/null";
  return request;
}

}  // namespace

FaultMaker::FaultMaker(const Fault& fault, std::int64_t rank)
    : fault_(fault),
      mine_(fault.kind != Kind::kNone && (fault.rank == rank || fault.rank == Fault::kEveryRank)) {}

bool FaultMaker::strikes(std::int64_t step) const {
  return mine_ && step == fault_.step && (fault_.kind == Kind::kKill || fault_.kind == Kind::kStop);
}

void FaultMaker::before_step(std::int64_t step) {
  if (!mine_ || step < fault_.step) return;
  if (step == fault_.step && fault_.kind == Kind::kKill) ::kill(::getpid(), SIGKILL);
  if (step == fault_.step && fault_.kind == Kind::kStop) ::kill(::getpid(), SIGSTOP);
  if (fault_.kind == Kind::kThrottle && !neighbour_) neighbour_.emplace(spinning_shell());
}

void FaultMaker::inside_step(std::int64_t step) const {
  wait(Kind::kSlow, step);
}

void FaultMaker::while_loading(std::int64_t step) const {
  wait(Kind::kSlowLoad, step);
}

void FaultMaker::while_saving(std::int64_t step) const {
  wait(Kind::kSlowSave, step);
}

void FaultMaker::wait(Kind kind, std::int64_t step) const {
  if (mine_ && fault_.kind == kind && step >= fault_.step)
    std::this_thread::sleep_for(std::chrono::duration<double>(fault_.seconds));
}

bool FaultMaker::poisons(std::int64_t step) const {
  return mine_ && fault_.kind == Kind::kNan && step == fault_.step;
}

}  // namespace paceline::workload
