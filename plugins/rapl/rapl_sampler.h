// SPDX-License-Identifier: MIT
// The sampler `rapl`: energy of the CPU packages of this host and of their memory, by the counters of the
// CPUs.
#pragma once
#include <vector>

#include "base/rapl.h"
#include "plugin/sampler.h"

namespace paceline::rapl_plugin {

class RaplSampler : public plugin::Sampler {
 public:
  std::chrono::nanoseconds open(const plugin::SamplerSettings& settings) override;
  std::vector<plugin::Reading> read(plugin::Moment moment) override;

 private:
  std::vector<rapl::Counter> counters_;
};

}  // namespace paceline::rapl_plugin
