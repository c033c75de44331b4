// SPDX-License-Identifier: MIT
// Counts what disturbs this process over a window.
#pragma once
#include <utility>
#include <vector>

#include "host/noise/noise.h"
#include "workload/window/measured_window.h"

namespace paceline::workload {

class NoiseObserver : public WindowObserver {
 public:
  // `processes`: others that belong to the measurement, so that their CPU time is not foreign.
  explicit NoiseObserver(std::vector<int> processes = {}) : processes_(std::move(processes)) {}
  void open() override { snapshots_ = {host::take_snapshot_with(processes_)}; }
  void close() override { snapshots_.push_back(host::take_snapshot_with(processes_)); }
  void report(result::Repetition& into, double) override {
    into.noise = host::noise_over(snapshots_);
    into.foreign_cpu_frac = into.noise.foreign_cpu_frac;
  }

 private:
  std::vector<int> processes_;
  std::vector<host::NoiseSnapshot> snapshots_;
};

}  // namespace paceline::workload
