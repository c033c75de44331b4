// SPDX-License-Identifier: MIT
#include "pass/derived_spec.h"

#include <gtest/gtest.h>

namespace paceline::pass {
namespace {

TEST(PrecisionLimits, FollowThePrecisionThatRan) {
  PassSpec spec;
  spec.inference.tolerance = {1e-4, 0.99999};
  spec.inference.accuracy.outputs_decide_too = true;
  spec.inference.limits = {{"int8", {0.3, 0.95, 0, 0.5, false}, 0.1, false}};
  use_limits(spec.inference, "fp32");
  EXPECT_DOUBLE_EQ(spec.inference.tolerance.max_rel_err, 1e-4);
  use_limits(spec.inference, dominant_precision({"", {{"fp32", 0.2, 9}, {"int8", 0.8, 3}}, "read back"}));
  EXPECT_DOUBLE_EQ(spec.inference.tolerance.max_rel_err, 0.3);
  EXPECT_FALSE(spec.inference.tolerance.max_decides);
  EXPECT_DOUBLE_EQ(spec.inference.accuracy.max_changed, 0.1);
  EXPECT_FALSE(spec.inference.accuracy.outputs_decide_too);
  EXPECT_EQ(dominant_precision({}), "");
  EXPECT_EQ(dominant_precision({"", {{"fp32", 0.3, 1, "int4"}, {"fp32", 0.3, 1}, {"int8", 0.4, 1}}, ""}),
            "fp32")
      << "whatever type the weights have";
}

TEST(PrecisionLimits, TravelToTheWorker) {
  PassSpec spec;
  spec.inference.limits = {{"int8", {0.3, 0.95, 0, 0.5, false}, 0.1, false}};
  spec.inference.output_tolerances = {{0.1, -1, 2, 0.4, false, 3}};
  const auto read = pass_from_json(to_json(spec));
  ASSERT_EQ(read.inference.limits.size(), 1U);
  EXPECT_EQ(read.inference.limits[0].precision, "int8");
  EXPECT_FALSE(read.inference.limits[0].tolerance.max_decides);
  EXPECT_DOUBLE_EQ(read.inference.output_tolerances.at(0).scale, 3);
}

PassSpec four_instances(std::int64_t per_device) {
  PassSpec spec;
  spec.inference.load.instances = 4;
  spec.inference.load.instances_per_device = per_device;
  spec.pin_cpus = {0, 2, 4, 6, 1, 3, 5, 7};
  spec.settings.options["device"] = "cuda:0";
  return spec;
}

std::vector<std::string> devices_of(const PassSpec& spec) {
  std::vector<std::string> devices;
  for (std::int64_t i = 0; i < spec.inference.load.instances; ++i)
    devices.push_back(spec_of_instance(spec, i).settings.options.at("device"));
  return devices;
}

TEST(SpecOfInstance, EachHasCpusOfItsOwn) {
  EXPECT_EQ(spec_of_instance(four_instances(0), 0).pin_cpus, (std::vector<int>{0, 2}));
  EXPECT_EQ(spec_of_instance(four_instances(0), 3).pin_cpus, (std::vector<int>{5, 7}));
  EXPECT_EQ(spec_of_instance(four_instances(0), 3).inference.load.instance, 3);
}

TEST(SpecOfInstance, AndADeviceWhereNoneIsNamedForAll) {
  using Devices = std::vector<std::string>;
  EXPECT_EQ(devices_of(four_instances(1)), (Devices{"cuda:0", "cuda:1", "cuda:2", "cuda:3"}));
  EXPECT_EQ(devices_of(four_instances(2)), (Devices{"cuda:0", "cuda:0", "cuda:1", "cuda:1"}));
  EXPECT_EQ(devices_of(four_instances(0)), Devices(4, "cuda:0"));
  auto named = four_instances(2);
  named.inference.load.devices = {3, 1};
  EXPECT_EQ(devices_of(pass_from_json(to_json(named))), (Devices{"cuda:3", "cuda:3", "cuda:1", "cuda:1"}));
}

}  // namespace
}  // namespace paceline::pass
