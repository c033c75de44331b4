// SPDX-License-Identifier: MIT
#include "pass/sweep.h"

#include <gtest/gtest.h>

namespace paceline::pass {
namespace {

CollectiveSpec spec_of(Collective operation, std::vector<std::int64_t> sizes) {
  CollectiveSpec spec;
  spec.operation = operation;
  spec.sizes = std::move(sizes);
  return spec;
}

std::vector<std::string> words(const CollectiveSpec& spec, std::int64_t world) {
  std::vector<std::string> all;
  for (const auto& step : sweep_steps(spec, world)) all.push_back(words_of(step, spec.operation));
  return all;
}

// nccl-tests, src/*.cu: GetCollByteCount.
TEST(CollectiveSizes, AreThoseOfNcclTests) {
  const auto reduce = collective_size(Collective::kAllReduce, DType::kFloat32, 4, 1024);
  EXPECT_EQ(reduce.count, 256);
  EXPECT_EQ(reduce.send_count, 256);
  EXPECT_EQ(reduce.receive_count, 256);
  const auto gather = collective_size(Collective::kAllGather, DType::kFloat32, 4, 1024);
  EXPECT_EQ(gather.bytes, 1024);
  EXPECT_EQ(gather.count, 64);
  EXPECT_EQ(gather.send_count, 64);
  EXPECT_EQ(gather.receive_count, 256);
  const auto scatter = collective_size(Collective::kReduceScatter, DType::kFloat64, 4, 1024);
  EXPECT_EQ(scatter.send_count, 128);
  EXPECT_EQ(scatter.receive_count, 32);
  EXPECT_EQ(collective_size(Collective::kAllToAll, DType::kInt8, 3, 1).bytes, 3)
      << "an element for each rank";
  EXPECT_EQ(collective_size(Collective::kBarrier, DType::kFloat32, 3, 1024).bytes, 0);
}

TEST(Sweep, MeasuresEachSizeInItsPlaces) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words(spec_of(Collective::kAllReduce, {64, 128}), 2),
            (Words{"all_reduce of 64 bytes, out of place", "all_reduce of 64 bytes, in place",
                   "all_reduce of 128 bytes, out of place", "all_reduce of 128 bytes, in place"}));
  EXPECT_EQ(words(spec_of(Collective::kAllToAll, {64}), 2), Words{"all_to_all of 64 bytes"});
  EXPECT_EQ(words(spec_of(Collective::kBarrier, {0}), 2), Words{"barrier"});
}

TEST(Sweep, MeasuresSizesThatAreTheSameOnce) {
  const auto steps = sweep_steps(spec_of(Collective::kSendRecv, {1, 2, 4, 8}), 2);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].size.bytes, 4);
  EXPECT_EQ(steps[1].size.bytes, 8);
}

}  // namespace
}  // namespace paceline::pass
