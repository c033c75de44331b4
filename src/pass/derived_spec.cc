// SPDX-License-Identifier: MIT
#include "pass/derived_spec.h"

#include <algorithm>
#include <map>

#include "base/device.h"

namespace paceline::pass {

PassSpec spec_of_instance(const PassSpec& spec, std::int64_t index) {
  const auto& load = spec.inference.load;
  PassSpec mine = spec;
  mine.inference.load.instance = index;
  const auto share = spec.pin_cpus.size() / static_cast<std::size_t>(load.instances);
  const auto first = spec.pin_cpus.begin() + static_cast<std::ptrdiff_t>(share) * index;
  mine.pin_cpus.assign(first, first + static_cast<std::ptrdiff_t>(share));
  if (load.instances_per_device > 0)
    mine.settings.options["device"] = device_name({DeviceKind::kCuda, load.device_of(index)});
  return mine;
}

std::string dominant_precision(const result::PrecisionReadBack& read_back) {
  std::map<std::string, double> shares;  // whatever type the weights have
  for (const auto& executed : read_back.executed) shares[executed.precision] += executed.flops_share;
  const auto most = std::ranges::max_element(shares, {}, [](const auto& row) { return row.second; });
  return most == shares.end() ? std::string() : most->first;
}

void use_limits(InferenceSpec& spec, const std::string& precision) {
  const auto row = std::find_if(spec.limits.begin(), spec.limits.end(),
                                [&](const auto& limits) { return limits.precision == precision; });
  if (row == spec.limits.end()) return;
  spec.tolerance = row->tolerance;
  spec.accuracy.max_changed = row->max_changed;
  spec.accuracy.outputs_decide_too = row->outputs_decide_too;
  spec.accuracy.needs_evidence = row->needs_evidence;
  spec.accuracy.eight_bits = row->eight_bits;
}

}  // namespace paceline::pass
