// SPDX-License-Identifier: MIT
// What the GPU of a case does at best: measured by a probe once per device, driver and power limit, and kept;
// beside it what its datasheet says.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "run/case/datasheets.h"
#include "run/case/kind.h"

namespace paceline::run {

// Puts the peaks of its precision and of so many GPUs into a case.
void use_peaks(result::CaseResult& c, const result::DevicePeaks& peaks, std::int64_t gpus);

class GpuPeaks {
 public:
  explicit GpuPeaks(const KindTools& tools);

  // Of a case on a GPU what is known. Nothing for others.
  void fill(CaseRun& c);
  // At the end: peaks that are not known are measured.
  void conclude(const std::vector<CaseRun*>& cases);

 private:
  struct Known {
    std::string device;  // cuda:0
    EngineHome probe;
    result::DevicePeaks peaks;
    std::string key;  // in the cache
    bool tried = false;
  };
  Known& known_for(const CaseRun& c);
  void measure(const CaseRun& c, Known& known);

  KindTools tools_;
  std::vector<Datasheet> datasheets_;
  std::map<int, Known> known_;  // by the device's number
};

}  // namespace paceline::run
