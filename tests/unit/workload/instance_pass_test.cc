// SPDX-License-Identifier: MIT
#include "workload/inference/instance_pass.h"

#include <gtest/gtest.h>

namespace paceline::workload {
namespace {

pass::PassSpec four_instances(std::int64_t per_device) {
  pass::PassSpec spec;
  spec.load.instances = 4;
  spec.load.instances_per_device = per_device;
  spec.pin_cpus = {0, 2, 4, 6, 1, 3, 5, 7};
  spec.settings.options["device"] = "cuda:0";
  return spec;
}

std::vector<std::string> devices_of(const pass::PassSpec& spec) {
  std::vector<std::string> devices;
  for (std::int64_t i = 0; i < spec.load.instances; ++i)
    devices.push_back(spec_of_instance(spec, i).settings.options.at("device"));
  return devices;
}

TEST(SpecOfInstance, EachHasCpusOfItsOwn) {
  EXPECT_EQ(spec_of_instance(four_instances(0), 0).pin_cpus, (std::vector<int>{0, 2}));
  EXPECT_EQ(spec_of_instance(four_instances(0), 3).pin_cpus, (std::vector<int>{5, 7}));
  EXPECT_EQ(spec_of_instance(four_instances(0), 3).load.instance, 3);
}

TEST(SpecOfInstance, AndADeviceWhereNoneIsNamedForAll) {
  using Devices = std::vector<std::string>;
  EXPECT_EQ(devices_of(four_instances(1)), (Devices{"cuda:0", "cuda:1", "cuda:2", "cuda:3"}));
  EXPECT_EQ(devices_of(four_instances(2)), (Devices{"cuda:0", "cuda:0", "cuda:1", "cuda:1"}));
  EXPECT_EQ(devices_of(four_instances(0)), Devices(4, "cuda:0"));
}

}  // namespace
}  // namespace paceline::workload
