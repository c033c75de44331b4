// SPDX-License-Identifier: MIT
#include "host/checks/gpu_links.h"

#include <cstdlib>

#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

// The double of NVML with these lines of its script.
class GpuLinksTest : public ::testing::Test {
 protected:
  ~GpuLinksTest() override { ::unsetenv("FAKE_NVML"); }
  CheckResult row(const std::string& lines) {
    tree_.file("nvml.txt", lines).file("dev/nvidiactl", "");
    ::setenv("FAKE_NVML", tree_.files().path("nvml.txt").c_str(), 1);
    return check_gpu_links(tree_.files(), FAKE_NVML);
  }
  FakeTree tree_;
};

constexpr const char* kFour = "* Count 4\n";
constexpr const char* kNoNvlink = "* Count 4\n* P2PStatus.2 5\n";

TEST_F(GpuLinksTest, AllPairsAreAlike) {
  EXPECT_EQ(row(kFour).text, "all pairs over NVLink, 18 links each");
  EXPECT_EQ(row(kFour).status, Verdict::kYes);
  EXPECT_EQ(row(std::string(kNoNvlink) + "* NvLinks 0\n").text, "all pairs only over PCIe");
  EXPECT_EQ(row(std::string(kNoNvlink) + "* NvLinks 0\n").status, Verdict::kYes);
}

TEST_F(GpuLinksTest, PairsThatAreBridgedAreNamed) {
  const auto bridged = row(std::string(kNoNvlink) + "* NvLinks 12\n0 P2PStatus.2.1 0\n2 P2PStatus.2.3 0\n");
  EXPECT_EQ(bridged.text, "pairs 0-1, 2-3 over NVLink, the others only over PCIe, 12 links each");
  EXPECT_EQ(bridged.status, Verdict::kYes);
}

TEST_F(GpuLinksTest, APairWithoutPeerAccessWarns) {
  const auto apart = row(std::string(kNoNvlink) + "* NvLinks 0\n0 P2PStatus.0.3 1\n");
  EXPECT_EQ(apart.text, "pairs 0-3 only through the host's memory, the others only over PCIe");
  EXPECT_EQ(apart.status, Verdict::kReservedly);
  EXPECT_NE(apart.fix.find("nvidia-smi topo -p2p r"), std::string::npos);
}

TEST_F(GpuLinksTest, FewerLinksThanItsPeersWarn) {
  const auto lame = row(std::string(kFour) + "2 NvLinks 12\n");
  EXPECT_EQ(lame.text, "all pairs over NVLink, but GPU 2 has 12 of 18 links");
  EXPECT_EQ(lame.status, Verdict::kReservedly);
  EXPECT_NE(lame.fix.find("nvidia-smi nvlink -s"), std::string::npos);
}

TEST_F(GpuLinksTest, UnreportedLinksAreNotJudged) {
  EXPECT_EQ(row("* P2PStatus.0 Absent\n* P2PStatus.2 Absent\n* NvLinks Absent\n").text,
            "all pairs not known");
  EXPECT_EQ(row("* Count 1\n").status, Verdict::kNotAsked);
  EXPECT_EQ(gpu_links_fact(tree_.files(), FAKE_NVML).reason, "fewer than two GPUs");
  EXPECT_EQ(check_gpu_links(FakeTree().files(), FAKE_NVML).status, Verdict::kNotAsked);
}

TEST_F(GpuLinksTest, AreAFact) {
  (void)row(kFour);
  const auto fact = gpu_links_fact(tree_.files(), FAKE_NVML);
  EXPECT_EQ(fact.value, "all pairs over NVLink, 18 links each");
  EXPECT_EQ(judge(fact, Fact{fact.name, "all pairs only over PCIe", {}}), Verdict::kNo);
  EXPECT_NE(rule_of(fact.name).fix.find("nvlink"), std::string_view::npos);
}

}  // namespace
}  // namespace paceline::host
