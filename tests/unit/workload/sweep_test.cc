// SPDX-License-Identifier: MIT
#include "workload/collective/sweep.h"

#include <gtest/gtest.h>

namespace paceline::workload {
namespace {

pass::CollectiveSpec spec_of(Collective operation, std::vector<std::int64_t> sizes) {
  pass::CollectiveSpec spec;
  spec.operation = operation;
  spec.sizes = std::move(sizes);
  return spec;
}

std::vector<std::string> words(const pass::CollectiveSpec& spec, std::int64_t world) {
  std::vector<std::string> all;
  for (const auto& step : sweep_steps(spec, world)) all.push_back(words_of(step, spec.operation));
  return all;
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
}  // namespace paceline::workload
