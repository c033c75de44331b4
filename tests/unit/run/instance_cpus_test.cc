// SPDX-License-Identifier: MIT
#include "run/inference/instance_cpus.h"

#include <stdexcept>

#include "unit/host/fake_tree.h"

namespace paceline::run {
namespace {

using Cpus = std::vector<int>;

TEST(InstanceCpus, AreThoseOfTheNodeOfEachDevice) {
  host::FakeTree tree;
  host::GpuPlaces four;
  for (const std::string bus : {"0", "1", "2", "3"}) {
    four.driver.gpus.push_back({std::string("NVIDIA H200"), "GPU-" + bus, "0000:" + bus + "b:00.0", {}});
    tree.file("sys/bus/pci/devices/0000:" + bus + "b:00.0/local_cpulist", bus < "2" ? "0-7\n" : "8-15\n");
  }
  four.files = tree.files();
  four.variable = [](const std::string&) { return std::nullopt; };
  const Cpus first{0, 1, 2, 3, 4, 5, 6, 7}, second{8, 9, 10, 11, 12, 13, 14, 15};
  pass::PassSpec pass;
  pass.inference.load.instances = 4, pass.inference.load.instances_per_device = 1;
  pass.settings.options["device"] = "cuda:0";
  const auto near = [&] { return cpus_near_instances(pass, [&] { return four; }); };
  EXPECT_EQ(near(), (std::vector<Cpus>{first, first, second, second}));
  pass.inference.load.instances = 2, pass.inference.load.devices = {3, 0};
  EXPECT_EQ(near(), (std::vector<Cpus>{second, first}));
  pass.inference.load.instances_per_device = 2;
  EXPECT_EQ(near(), (std::vector<Cpus>{second, second}));
}

TEST(InstanceCpus, AreAnyOnTheCpu) {
  pass::PassSpec pass;
  pass.inference.load.instances = 2;
  const auto unasked = []() -> host::GpuPlaces { throw std::logic_error("the driver was asked"); };
  EXPECT_EQ(cpus_near_instances(pass, unasked), std::vector<Cpus>(2));
}

}  // namespace
}  // namespace paceline::run
