// SPDX-License-Identifier: MIT
#include "config/collective/topologies.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "config/diagnostic.h"

namespace paceline::config {
namespace {

constexpr const char* kTable = R"(eight:
  about: eight of them
  gpus: [H200, H100]
  hosts: one
  ranks: 8
  operations: [all_reduce, all_gather]
  busbw_gb_per_s: {1M: 10, 4M: 40, 1G: 370}
  source: a page
wire: {busbw_gb_per_s: {64M: 0.118}, source: measured}
)";

std::string problems_of(const std::string& yaml) {
  try {
    parse_topologies(yaml, "t.yaml");
  } catch (const ConfigErrors& e) {
    std::string text;
    for (const auto& one : e.diagnostics()) text += one.text() + "\n";
    return text;
  }
  return "none";
}

TEST(Topologies, ARowIsFoundByItsNameOrByWhatFits) {
  const auto table = parse_topologies(kTable, "t.yaml");
  ASSERT_EQ(table.size(), 2u);
  const RunShape fitting{"all_reduce", "NVIDIA H200", true, 8};
  const auto name = [&](const std::string& asked, const RunShape& shape) {
    const auto* found = find_topology(table, asked, shape);
    return found ? found->name : "none";
  };
  EXPECT_EQ(name("", fitting), "eight");
  EXPECT_EQ(name("", {"all_reduce", "NVIDIA H200", true, 4}), "none");
  EXPECT_EQ(name("", {"all_reduce", "NVIDIA H200", false, 8}), "none");
  EXPECT_EQ(name("", {"all_reduce", "NVIDIA A10", true, 8}), "none");
  EXPECT_EQ(name("", {"broadcast", "NVIDIA H200", true, 8}), "none");
  EXPECT_EQ(name("", {"all_reduce", "", true, 8}), "none") << "CPU ranks";
  EXPECT_EQ(name("wire", fitting), "wire");
  EXPECT_EQ(name("wir", fitting), "none");
  EXPECT_EQ(words_of(table[0]), "eight (eight of them); a page");
  EXPECT_EQ(table[1].operations, std::vector<std::string>{"all_reduce"});
}

TEST(Topologies, BetweenTwoSizesBothLogarithmsAreInterpolated) {
  const auto table = parse_topologies(kTable, "t.yaml");
  constexpr std::int64_t kMiB = 1 << 20;
  EXPECT_FALSE(expected_gb_per_s(table[0], kMiB - 1));
  EXPECT_DOUBLE_EQ(*expected_gb_per_s(table[0], kMiB), 10);
  EXPECT_NEAR(*expected_gb_per_s(table[0], 2 * kMiB), 20, 1e-9);
  EXPECT_DOUBLE_EQ(*expected_gb_per_s(table[0], 1LL << 40), 370);
}

TEST(Topologies, MistakesAreNamedWithLineAndKey) {
  const std::pair<const char*, const char*> kMistakes[] = {
      {"a: {source: x, busbw_gb_per_s: {1M: 1}, bandwith: 3}",
       "t.yaml:1:41: unknown key 'a.bandwith'; there are: about,"},
      {"a:\n  source: x\n  busbw_gb_per_s: {1M: fast}",
       "t.yaml:3:24: 'a.busbw_gb_per_s': 'fast' is no bandwidth above 0"},
      {"a:\n  source: x\n  busbw_gb_per_s: {1M: -1}", "'-1' is no bandwidth above 0"},
      {"a:\n  source: x\n  busbw_gb_per_s: {huge: 1}", "t.yaml:3:20: 'a.busbw_gb_per_s': "},
      {"a:\n  source: x\n  busbw_gb_per_s: {2M: 1, 1M: 1}",
       "t.yaml:3:27: 'a.busbw_gb_per_s': 1M is out of order; sizes must ascend"},
      {"a:\n  source: x\n  busbw_gb_per_s: 5", "t.yaml:3:19: 'a.busbw_gb_per_s' takes a map of sizes"},
      {"a:\n  source: x", "t.yaml:1:1: 'a' has no busbw_gb_per_s"},
      {"a:\n  busbw_gb_per_s: {1M: 1}", "t.yaml:1:1: 'a' has no source"},
      {"a: 5", "t.yaml:1:4: 'a' is no map of keys"},
      {"[a]", "t.yaml:1:1: a table of topologies is a map"},
      {"a: {source: x, busbw_gb_per_s: {1M: 1}, hosts: two}", "'a.hosts' is 'two'; it takes one or several"},
      {"a: {source: x, busbw_gb_per_s: {1M: 1}, ranks: 0}",
       "'a.ranks' is '0'; it takes a whole number from 1 on"},
      {"a: {source: x, busbw_gb_per_s: {1M: 1}, operations: [sum]}",
       "'a.operations': 'sum' is no operation of comm"},
      {"a: {source: x, busbw_gb_per_s: {1M: 1}}\na: {source: x, busbw_gb_per_s: {1M: 1}}",
       "t.yaml:2:1: topology 'a' is listed twice"},
      {"a: [", "t.yaml:"},
  };
  for (const auto& [yaml, said] : kMistakes)
    EXPECT_NE(problems_of(yaml).find(said), std::string::npos) << yaml << "\n" << problems_of(yaml);
  EXPECT_EQ(problems_of(kTable), "none");
}

TEST(Topologies, TheInstalledTableIsRead) {
  for (const auto& topology :
       parse_topologies(read_file(PACELINE_SOURCE_DIR "/share/topologies.yaml"), "share/topologies.yaml"))
    EXPECT_FALSE(topology.source.empty()) << topology.name;
}

}  // namespace
}  // namespace paceline::config
