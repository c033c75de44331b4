// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>

#include "base/fault.h"
#include "process/spawn.h"

namespace paceline::workload {

// Injects a fault into a rank before one of its steps: kill (SIGKILL) and stop (SIGSTOP) hit the process
// itself.
class FaultMaker {
 public:
  FaultMaker(const Fault& fault, std::int64_t rank);
  // For kill and stop: the process has no step after this one.
  [[nodiscard]] bool strikes(std::int64_t step) const;
  void before_step(std::int64_t step);
  void inside_step(std::int64_t step) const;    // slow
  void while_loading(std::int64_t step) const;  // slow_load
  void while_saving(std::int64_t step) const;   // slow_save
  // For nan: this step's learning rate is NaN, and so is the next loss.
  [[nodiscard]] bool poisons(std::int64_t step) const;

 private:
  void wait(Fault::Kind kind, std::int64_t step) const;

  Fault fault_;
  bool mine_;
  std::optional<process::ChildProcess> neighbour_;  // of throttle
};

}  // namespace paceline::workload
