// SPDX-License-Identifier: MIT
#include "rapl/rapl_sampler.h"

#include "base/error.h"

namespace paceline::rapl_plugin {

std::chrono::nanoseconds RaplSampler::open(const plugin::SamplerSettings& settings) {
  counters_ = rapl::counters(rapl::powercap_folder());
  if (const auto reason = rapl::refusal(counters_); !reason.empty())
    throw Error(ErrorCode::kUnavailable, reason);
  std::erase_if(counters_, [](const auto& one) { return one.part() == rapl::Part::kOther; });
  return std::chrono::milliseconds(std::stoi(settings.options.at("period_ms")));
}

std::vector<plugin::Reading> RaplSampler::read(plugin::Moment) {
  std::vector<plugin::Reading> readings;
  for (auto& one : counters_)
    if (const auto joules = one.joules(); joules && !one.was_interrupted())
      readings.push_back({one.name(), "energy", "J", *joules});
  return readings;
}

}  // namespace paceline::rapl_plugin
