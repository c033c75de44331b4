// SPDX-License-Identifier: MIT
#include "run/collective/sweep_here.h"

#include <gtest/gtest.h>

namespace paceline::run {
namespace {

constexpr double kProcess = 64e6;

SweepOutlook judged(const std::string& lines, const SweepPlace& place) {
  return judge_sweep(config::expand(config::load_plan_text("kind: collective\n" + lines, "test.yaml")).at(0),
                     place);
}

SweepPlace on_cpu(std::int64_t ranks, std::int64_t bytes) {
  SweepPlace place;
  place.ranks = ranks, place.host_bytes = bytes;
  return place;
}

TEST(SweepMemory, CountsWhatARankSendsAndReceives) {
  const auto need = [](const std::string& lines) { return judged(lines, on_cpu(4, 1LL << 50)).need; };
  EXPECT_EQ(need("ranks: 4\nmax_bytes: 1G\n").host_each, kProcess + 4 * 0x1p30)
      << "twice, and once more to check";
  EXPECT_EQ(need("ranks: 4\nmax_bytes: 1G\n").host_all, 4 * (kProcess + 4 * 0x1p30));
  EXPECT_EQ(need("ranks: 4\nmax_bytes: 1G\ncheck: 0\n").host_each, kProcess + 2 * 0x1p30);
  EXPECT_EQ(need("ranks: 4\nmax_bytes: 1G\ncheck: 0\ncollective: all_gather\n").host_each,
            kProcess + 1.25 * 0x1p30)
      << "a rank sends a quarter of what it receives";
  EXPECT_EQ(need("collective: barrier\nranks: 4\n").host_each, kProcess);
}

TEST(SweepMemory, NamesTheLargestSizeThatFits) {
  constexpr std::int64_t kGib = 1LL << 30;
  const auto room = static_cast<std::int64_t>(2 * kProcess) + 8 * kGib;
  const auto fits = judged("ranks: 2\nmax_bytes: 1G\n", on_cpu(2, room));
  EXPECT_EQ(fits.refusal, "");
  EXPECT_EQ(fits.largest_that_fits, kGib);
  const auto one_byte_less = judged("ranks: 2\nmax_bytes: 1G\n", on_cpu(2, room - 1));
  EXPECT_EQ(one_byte_less.largest_that_fits, kGib / 2);
  EXPECT_EQ(
      one_byte_less.refusal,
      "all_reduce of 1 GiB takes at least 4.36 GB in each of 2 ranks, and 8.72 GB are available on this "
      "host; the largest size that fits is 512 MiB: write max_bytes: 512M (-e 512M)");
  const auto none = judged("ranks: 2\n", on_cpu(2, 1000));
  EXPECT_EQ(none.largest_that_fits, 0);
  EXPECT_NE(none.refusal.find("none of its sizes fits: use fewer ranks or smaller sizes"), std::string::npos);
}

TEST(SweepMemory, DevicesHoldTheBuffersAndHostsTheirChecks) {
  constexpr std::int64_t kGib = 1LL << 30;
  SweepPlace place = on_cpu(2, 100 * kGib);
  place.device = "cuda", place.device_bytes = 4 * kGib;
  const auto fits = judged("ranks: 2\nmax_bytes: 2G\n", place);
  EXPECT_EQ(fits.refusal, "");
  EXPECT_EQ(fits.need.device_each, 4 * 0x1p30);
  EXPECT_EQ(fits.need.host_each, kProcess + 4 * 0x1p30);
  const auto refused = judged("ranks: 2\nmax_bytes: 4G\n", place);
  EXPECT_EQ(refused.refusal,
            "all_reduce of 4 GiB takes at least 8.59 GB on the device of each rank, which has 4.29 GB; the "
            "largest size that fits is 2 GiB: write max_bytes: 2G (-e 2G)");
  EXPECT_EQ(judged("ranks: 2\nmax_bytes: 4G\ncheck: 0\n", on_cpu(2, 1)).need.device_each, 0);
}

TEST(SweepMemory, IsNotJudgedWhereItIsNotKnown) {
  EXPECT_EQ(judged("ranks: 2\nmax_bytes: 4096G\n", {}).refusal, "");
  EXPECT_EQ(judged("ranks: 2\nmax_bytes: 4096G\n", {}).largest_that_fits, 1LL << 42);
}

TEST(SweepMemory, RoundsTakeMemoryToo) {
  const auto refused =
      judged("ranks: 2\nmax_bytes: 64\nrounds: pairs\nround_bytes: 1G\n", on_cpu(2, 1LL << 30));
  EXPECT_NE(refused.refusal.find("a round of 1 GiB takes at least 4.36 GB in each of 2 ranks"),
            std::string::npos)
      << refused.refusal;
}

TEST(SweepSizes, BelowAnElementAreSaidOrRefused) {
  const auto remarks = [](const std::string& lines) {
    return size_remarks(
        config::expand(config::load_plan_text("kind: collective\n" + lines, "test.yaml")).at(0));
  };
  EXPECT_TRUE(remarks("ranks: 4\n").empty());
  EXPECT_TRUE(remarks("collective: barrier\nmin_bytes: 1\n").empty());
  EXPECT_EQ(
      remarks("ranks: 4\ncollective: all_gather\n"),
      std::vector<std::string>{"all_gather of float carries at least 16 bytes, one element for each of 4 "
                               "ranks: smaller sizes are measured as that"});
  EXPECT_EQ(
      judged("ranks: 2\nmin_bytes: 1\nmax_bytes: 2\ndtypes: [double]\n", {}).refusal,
      "all_reduce of double carries at least 8 bytes, one element, and max_bytes is 2; write max_bytes: 8 "
      "(-e 8)");
  EXPECT_EQ(judged("ranks: 2\nmin_bytes: 1\nmax_bytes: 2\ndtypes: [int8]\n", {}).refusal, "");
}

}  // namespace
}  // namespace paceline::run
