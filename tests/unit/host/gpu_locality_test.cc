// SPDX-License-Identifier: MIT
#include "host/machine/gpu_locality.h"

#include <map>

#include "host/machine/cpu_choice.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

using Cpus = std::vector<int>;

// Two nodes of four CPUs, with a GPU each.
class TwoNodes : public ::testing::Test {
 protected:
  TwoNodes() {
    tree_.file("sys/bus/pci/devices/0000:1b:00.0/local_cpulist", "0-3\n");
    tree_.file("sys/bus/pci/devices/0000:cf:00.0/local_cpulist", "4-7\n");
    places_.driver.gpus = {gpu("NVIDIA H200", "GPU-aa1", "0000:1b:00.0"),
                           gpu("NVIDIA H200", "GPU-bb2", "0000:cf:00.0")};
    places_.files = tree_.files();
    places_.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
  }
  static NvidiaGpu gpu(const std::string& name, const std::string& uuid, const std::string& bus) {
    return {name, uuid, bus, {}};
  }
  Cpus near(int index, const std::string& visible = "") {
    if (!visible.empty()) variables_["CUDA_VISIBLE_DEVICES"] = visible;
    return cpus_near_device(places_, index);
  }
  FakeTree tree_;
  GpuPlaces places_;
  std::map<std::string, std::string> variables_;
};

const Cpus kFirstNode{0, 1, 2, 3}, kSecondNode{4, 5, 6, 7};

TEST_F(TwoNodes, EachDeviceHasItsCpus) {
  EXPECT_EQ(near(0), kFirstNode);
  EXPECT_EQ(near(1), kSecondNode);
  EXPECT_EQ(near(2), Cpus());
}

TEST_F(TwoNodes, DevicesAreCountedAsCudaCountsThem) {
  EXPECT_EQ(near(0, "1"), kSecondNode);
  EXPECT_EQ(near(1, "1"), Cpus());
  EXPECT_EQ(near(0, "1,0"), kSecondNode);
  EXPECT_EQ(near(1, "1,0"), kFirstNode);
  EXPECT_EQ(near(0, "GPU-bb"), kSecondNode);
  EXPECT_EQ(near(0, "MIG-bb2"), Cpus());
}

TEST_F(TwoNodes, UnlikeDevicesMayBeInAnotherOrder) {
  places_.driver.gpus[1].name = std::string("NVIDIA T4");
  EXPECT_EQ(near(0), Cpus());
  variables_["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  EXPECT_EQ(near(0), kFirstNode);
}

TEST_F(TwoNodes, AreCountedAsFarAsTheyAreVisible) {
  EXPECT_EQ(visible_device_count(places_), 2);
  variables_["CUDA_VISIBLE_DEVICES"] = "1";
  EXPECT_EQ(visible_device_count(places_), 1);
  variables_["CUDA_VISIBLE_DEVICES"] = "GPU-aa1,GPU-bb2";
  EXPECT_EQ(visible_device_count(places_), 2);
  places_.driver = read_nvidia_driver("libpaceline-no-such.so.1");
  variables_.clear();
  EXPECT_EQ(visible_device_count(places_), 0);
}

TEST_F(TwoNodes, RanksTakeTheDevicesInTurn) {
  EXPECT_EQ(cpus_near_rank(places_, 1), kSecondNode);
  EXPECT_EQ(cpus_near_rank(places_, 2), kFirstNode);
  variables_["CUDA_VISIBLE_DEVICES"] = "1";  // srun --gpus-per-task=1
  EXPECT_EQ(cpus_near_rank(places_, 3), kSecondNode);
  places_.driver.gpus.clear();
  variables_.clear();
  EXPECT_EQ(cpus_near_rank(places_, 0), Cpus());
}

TEST(TakeNear, NearCpusComeFirstAndTheRestInItsOrder) {
  Cpus pool{0, 4, 1, 5, 2, 6};
  EXPECT_EQ(take_near(pool, kSecondNode, 2), (Cpus{4, 5}));
  EXPECT_EQ(pool, (Cpus{0, 1, 2, 6}));
  EXPECT_EQ(take_near(pool, kSecondNode, 2), (Cpus{6, 0}));
  EXPECT_EQ(take_near(pool, {}, 5), (Cpus{1, 2}));
  EXPECT_TRUE(pool.empty());
}

TEST(ChooseCpusNear, WithoutAPreferenceIsTheOrderOfAllowedCpus) {
  auto all = allowed_cpus();
  EXPECT_EQ(choose_cpus_near({{}}, static_cast<long long>(all.size())), all);
  EXPECT_EQ(choose_cpus_near({{}, {}}, static_cast<long long>(all.size())), all);  // the second has none left
  const Cpus last{all.back()};
  EXPECT_EQ(choose_cpus_near({last}, 1), last);
}

}  // namespace
}  // namespace paceline::host
