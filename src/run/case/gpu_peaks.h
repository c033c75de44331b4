// SPDX-License-Identifier: MIT
// Peaks of the GPU of a case: measured by a probe once per device, driver and power limit, and kept; with
// them those of its datasheet.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "run/case/datasheets.h"
#include "run/case/kind.h"

namespace paceline::run {

// Puts the peaks of its precision into a case: the sum over its GPUs, of which there is one or more.
void use_peaks(result::CaseResult& c, const std::vector<const result::DevicePeaks*>& of_gpus);

// Rates that the probe measured, by operation and precision ("product fp16"): a case may have raised the
// peak.
using ProbedRates = std::map<std::string, double>;
void keep_probed(ProbedRates& probed, const result::DevicePeak& peak);

// Whether a case can have reached these FLOP/s with as many operations as are counted: at most twice what the
// probe measured, and no more than the datasheet says.
bool may_raise_peak(const result::DevicePeaks& peaks, const ProbedRates& probed, const std::string& precision,
                    double flops_per_s);

class GpuPeaks {
 public:
  explicit GpuPeaks(const KindTools& tools);

  // Fills in the known peaks of a GPU case; no-op otherwise.
  void fill(CaseRun& c);
  // At the end: peaks that are not known are measured, and raised where a case on one GPU has passed its
  // peak.
  void conclude(const std::vector<CaseRun*>& cases);

 private:
  struct Known {
    std::string device;  // cuda:0
    EngineHome probe;
    result::DevicePeaks peaks;
    ProbedRates probed;
    std::string key;  // in the cache
    bool tried = false;
  };
  Known& known_for(int index);
  void show(CaseRun& c);
  void measure(const CaseRun& c, Known& known);
  void raise(CaseRun& c, Known& known);
  static void keep(const Known& known);

  KindTools tools_;
  std::vector<Datasheet> datasheets_;
  std::map<int, std::string> keys_;  // of known_, by the device's number
  std::map<std::string, Known> known_;
};

}  // namespace paceline::run
