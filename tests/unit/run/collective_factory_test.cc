// SPDX-License-Identifier: MIT
#include "run/collective/collective_factory.h"

#include <gtest/gtest.h>

namespace paceline::run {
namespace {

config::Case collective_case(const std::string& lines) {
  return config::expand(config::load_plan_text("kind: collective\n" + lines, "test.yaml")).at(0);
}

pass::PassSpec pass_of(const std::string& lines) {
  return collective_pass(collective_case(lines), "cpu", 1);
}

TEST(CollectiveFactory, SizesAreThoseOfNcclTests) {
  const auto sizes = [](const std::string& lines) { return swept_sizes(collective_case(lines).settings); };
  EXPECT_EQ(sizes("min_bytes: 8\nmax_bytes: 64\n"), (std::vector<std::int64_t>{8, 16, 32, 64}));
  EXPECT_EQ(sizes("min_bytes: 1K\nmax_bytes: 3K\nstep_bytes: 1K\n"),
            (std::vector<std::int64_t>{1024, 2048, 3072}));
  EXPECT_EQ(sizes("min_bytes: 8\nmax_bytes: 100\nstep_factor: 4\n"), (std::vector<std::int64_t>{8, 32}));
  EXPECT_EQ(sizes("min_bytes: 1\nmax_bytes: 4\nstep_factor: 1.1\n"), (std::vector<std::int64_t>{1, 2, 3, 4}))
      << "a factor that rounds to the same size still goes on";
  EXPECT_EQ(sizes("").size(), 24u) << "8 bytes to 64 MiB";
}

TEST(CollectiveFactory, TakesEveryOption) {
  const auto pass = pass_of(
      "collectives: [reduce]\ndtypes: [bfloat16]\nreductions: [max]\nroot: 1\ngpu_counts: [4]\nmin_bytes: "
      "64\n"
      "max_bytes: 64\nwarmup_iterations: 3\niterations: 40\nsize_time_s: 0.5\nsize_halfwidth: 0.1\ncheck: 2\n"
      "group_timeout_s: 7\nconfidence: 0.99\n");
  EXPECT_EQ(pass.kind, pass::PassKind::kCollective);
  EXPECT_EQ(pass.world_size, 4);
  EXPECT_EQ(pass.ranks.backend, "gloo");
  EXPECT_EQ(pass.ranks.group_timeout_s, 7);
  const auto& c = std::get<pass::CollectiveSpec>(pass.task);
  EXPECT_EQ(c.operation, Collective::kReduce);
  EXPECT_EQ(c.dtype, DType::kBFloat16);
  EXPECT_EQ(c.reduction, Reduction::kMax);
  EXPECT_EQ(c.root, 1);
  EXPECT_EQ(c.sizes, std::vector<std::int64_t>{64});
  EXPECT_EQ(c.warmup, 3);
  EXPECT_EQ(c.batch, 40);
  EXPECT_EQ(c.checks, 2);
  EXPECT_EQ(pass.loop.stop.n_min, 40);
  EXPECT_EQ(pass.loop.stop.t_max_ns, 500'000'000);
  EXPECT_EQ(pass.loop.stop.confidence, 0.99);
  EXPECT_EQ(pass.loop.stop.precisions.front().rel_halfwidth, 0.1);
}

TEST(CollectiveFactory, ABarrierHasOneSize) {
  const auto pass = pass_of("collectives: [barrier]\n");
  EXPECT_EQ(std::get<pass::CollectiveSpec>(pass.task).sizes, std::vector<std::int64_t>{0});
}

TEST(CollectiveFactory, TheLargestSizeIsInWholeElements) {
  EXPECT_EQ(largest_bytes(collective_case("max_bytes: 64M\nranks: 3\ncollective: all_gather\n")), 67'108'860);
  EXPECT_EQ(largest_bytes(collective_case("collective: barrier\n")), 0);
}

TEST(CollectiveFactory, ThreadsAreThoseAskedForElseAShare) {
  EXPECT_EQ(collective_pass(collective_case("threads: 3\n"), "cpu", 2).settings.threads, 3);
  EXPECT_EQ(collective_pass(collective_case(""), "cpu", 2).settings.threads, 2);
}

TEST(CollectiveFactory, CudaRanksUseNccl) {
  EXPECT_EQ(collective_pass(collective_case(""), "cuda", 1).ranks.backend, "nccl");
}

}  // namespace
}  // namespace paceline::run
