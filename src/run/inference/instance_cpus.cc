// SPDX-License-Identifier: MIT
#include "run/inference/instance_cpus.h"

#include "base/device.h"
#include "pass/derived_spec.h"

namespace paceline::run {

std::vector<std::vector<int>> cpus_near_instances(const pass::PassSpec& pass,
                                                  const std::function<host::GpuPlaces()>& places) {
  std::vector<std::vector<int>> near(static_cast<std::size_t>(pass.inference.load.instances));
  const auto device = pass.settings.options.find("device");
  if (device == pass.settings.options.end() || is_cpu(device->second)) return near;
  const auto here = places();
  for (std::int64_t i = 0; i < pass.inference.load.instances; ++i) {
    const auto mine = pass::spec_of_instance(pass, i).settings.options.at("device");
    near[static_cast<std::size_t>(i)] = host::cpus_near_device(here, device_named(mine).index);
  }
  return near;
}

}  // namespace paceline::run
