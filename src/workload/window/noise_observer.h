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
  // The CPU time of `others` is not foreign, but their threads are not those of this case.
  void work_in_turns(std::vector<int> others) { others_ = std::move(others); }
  // Threads are watched between these two alone: waking up is no wait of a timed part.
  void turn_begins() { turns_.begin(); }
  void turn_ends() { turns_.end(); }
  void open() override { snapshots_ = {snapshot()}; }
  void close() override { snapshots_.push_back(snapshot()); }
  void report(result::Repetition& into, double) override {
    into.noise = host::noise_over(snapshots_);
    turns_.fill(into.noise);
    into.foreign_cpu_frac = into.noise.foreign_cpu_frac;
  }

 private:
  [[nodiscard]] host::NoiseSnapshot snapshot() const {
    return host::take_snapshot_beside(others_, host::take_snapshot_with(processes_));
  }

  std::vector<int> processes_, others_;
  host::ThreadsInTurns turns_;
  std::vector<host::NoiseSnapshot> snapshots_;
};

}  // namespace paceline::workload
