// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <vector>

#include "run/case/case_run.h"
#include "run/case/observer.h"
#include "run/case/run_setup.h"
#include "run/inference/peak.h"

namespace paceline::run {

// The FLOPs of cases, and for those on the CPU the most that it does of their kind (GPUs: case/gpu_peaks.h).
class CasePeaks {
 public:
  CasePeaks(const RunSetup& setup, const std::filesystem::path& run_dir, RunObserver& observer,
            const std::atomic<bool>& interrupt);

  // FLOPs of the case's model, and the peak of its precision and threads where it is known.
  void fill(CaseRun& c) const;
  // At the end: peaks that are not known are measured, and those that a case has passed are raised.
  void conclude(const std::vector<CaseRun*>& cases);

 private:
  [[nodiscard]] bool wants_peak(const CaseRun& c) const;
  void measure(CaseRun& c);
  [[nodiscard]] int threads_of(const CaseRun& c) const;
  void show(CaseRun& c, const Peak& peak) const;

  PeakTable table_;
  std::string cpu_;
  int cpus_;  // that this process may use; 0: not known
  bool measures_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
};

}  // namespace paceline::run
