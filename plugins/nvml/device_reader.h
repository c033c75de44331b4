// SPDX-License-Identifier: MIT
// Reads all metrics of one GPU, and keeps what it cannot be asked.
#pragma once
#include <string>
#include <vector>

#include "nvml/metrics.h"
#include "plugin/sampler.h"

namespace paceline::nvml_plugin {

inline constexpr const char* kLeftOut = "left_out";  // what is not read, and why, in words

class DeviceReader {
 public:
  // `name`: as the case calls it, "cuda:1".
  DeviceReader(Source source, std::string name, bool pcie);
  // Metrics that are read this often or more often. Those that the GPU does not report are listed once, as
  // words in metric left_out. Throws Error(kUnavailable) where the GPU is lost.
  void read(Often often, std::vector<plugin::Reading>& into);

 private:
  void leave_out(const Probe& probe);

  Source source_;
  std::string name_;
  std::vector<const Probe*> probes_;
  Values values_;
  std::vector<std::string> left_out_;  // "energy: Not Supported"
};

}  // namespace paceline::nvml_plugin
