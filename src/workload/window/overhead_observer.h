// SPDX-License-Identifier: MIT
// Measures what measuring itself costs, before a pass loads anything and after its window.
#pragma once
#include "measure/calibration.h"
#include "workload/window/measured_window.h"

namespace paceline::workload {

class OverheadObserver : public WindowObserver {
 public:
  OverheadObserver();  // calibrates, and once more in report()
  void report(result::Repetition& into, double typical_ns) override;
  [[nodiscard]] const measure::TimerCost& timer() const { return start_.timer; }

 private:
  measure::Calibration start_;
};

}  // namespace paceline::workload
