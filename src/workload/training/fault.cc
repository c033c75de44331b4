// SPDX-License-Identifier: MIT
#include "workload/training/fault.h"

#include <unistd.h>

#include <chrono>
#include <csignal>

namespace paceline::workload {
namespace {

using Kind = Fault::Kind;

}  // namespace

FaultMaker::FaultMaker(const Fault& fault, std::int64_t rank)
    : fault_(fault),
      mine_(fault.kind != Kind::kNone && (fault.rank == rank || fault.rank == Fault::kEveryRank)) {}

FaultMaker::~FaultMaker() {
  spinning_ = false;
  if (spinner_.joinable()) spinner_.join();
}

bool FaultMaker::strikes(std::int64_t step) const {
  return mine_ && step == fault_.step && (fault_.kind == Kind::kKill || fault_.kind == Kind::kStop);
}

void FaultMaker::before_step(std::int64_t step) {
  if (!mine_ || step < fault_.step) return;
  if (step == fault_.step && fault_.kind == Kind::kKill) ::kill(::getpid(), SIGKILL);
  if (step == fault_.step && fault_.kind == Kind::kStop) ::kill(::getpid(), SIGSTOP);
  if (fault_.kind != Kind::kThrottle || spinner_.joinable()) return;
  spinning_ = true;
  spinner_ = std::thread([this] {
    while (spinning_) {
    }
  });
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
