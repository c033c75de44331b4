// SPDX-License-Identifier: MIT
// The sampler `nvml`: clocks, power, energy and the rest of the GPUs of a case, from NVIDIA's management
// library.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/nvml_library.h"
#include "nvml/device_reader.h"
#include "nvml/own_processes.h"
#include "plugin/sampler.h"

namespace paceline::nvml_plugin {

class NvmlSampler : public plugin::Sampler {
 public:
  std::chrono::nanoseconds open(const plugin::SamplerSettings& settings) override;
  std::vector<plugin::Reading> read(plugin::Moment moment) override;

 private:
  void warm_up();
  void refuse_if_all_are_lost() const;

  std::optional<nvml::Library> library_;
  OwnProcesses own_;
  std::vector<DeviceReader> devices_;
  std::vector<plugin::Reading> refused_;  // what cannot be read, and why; listed once
  int readings_ = 0, slow_every_ = 1;
  bool waits_ = false;  // for GPUs that are lost, all of them included
};

}  // namespace paceline::nvml_plugin
