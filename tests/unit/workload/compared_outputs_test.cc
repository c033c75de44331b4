// SPDX-License-Identifier: MIT
#include "workload/inference/compared_outputs.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/error.h"
#include "scratch_folder.h"

namespace paceline::workload {
namespace {

TensorView view_of(const std::string& name, std::vector<float>& values, Shape shape) {
  return {name, values.data(), DType::kFloat32, std::move(shape), {}, {}};
}

TEST(ComparedOutputs, OneThatDoesNotFollowTheBatchIsLeftOut) {
  std::vector<float> a{1, 2, 3, 4}, b{1, 2, 3};
  ComparedOutputs all;
  const std::array views{view_of("a", a, {2, 2}), view_of("b", b, {3})};
  append_outputs(all, views, 2, 2);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].left_out, "");
  EXPECT_NE(all[1].left_out.find("first dimension is 3"), std::string::npos) << all[1].left_out;
  ComparedOutputs alone;
  EXPECT_THROW(append_outputs(alone, std::array{view_of("b", b, {3})}, 2, 2), Error);
}

TEST(ComparedOutputs, OneThatChangesItsLengthIsLeftOutFromThenOn) {
  std::vector<float> a{1, 2}, b{1, 2, 3};
  ComparedOutputs all;
  append_outputs(all, std::array{view_of("a", a, {1, 2}), view_of("b", b, {1, 3})}, 1, 2);
  append_outputs(all, std::array{view_of("a", a, {1, 2}), view_of("b", b, {1, 2})}, 1, 2);
  EXPECT_EQ(all[0].rows.samples, 2);
  EXPECT_NE(all[1].left_out.find("changes from batch to batch"), std::string::npos);
}

TEST(ComparedOutputs, ReferencesOfAllOutputsAreFoundByName) {
  const test::ScratchFolder folder;
  std::vector<float> a{1, 2, 3, 4}, b{5, 6}, c{7, std::numeric_limits<float>::infinity()};
  ComparedOutputs all;
  append_outputs(all, std::array{view_of("a", a, {2, 2}), view_of("b", b, {2, 1}), view_of("c", c, {2, 1})},
                 2, 2);
  write_reference(folder.path() / "r.npy", all);
  const auto second = read_reference(folder.path() / "r.npy", 1, 1);
  ASSERT_EQ(second.size(), 3U);
  EXPECT_EQ(second[0].rows.values, (std::vector<float>{3, 4}));
  EXPECT_EQ(second[1].rows.values, (std::vector<float>{6}));
  EXPECT_NE(second[2].left_out.find("infinity"), std::string::npos);
  ComparedOutputs swapped{all[1], all[2], all[0]};
  EXPECT_EQ(reference_of(second, swapped, 0)->values, (std::vector<float>{6}));
  EXPECT_EQ(reference_of(second, swapped, 1), nullptr);
  swapped[0].rows.name = "other";
  EXPECT_EQ(reference_of(second, swapped, 0)->values, (std::vector<float>{3, 4}));  // by place
}

TEST(ComparedOutputs, AMapKeepsMoreRowsThanScores) {
  std::vector<float> values(2 * 1024 * 1024);
  ComparedRows rows;
  rows.samples_planned = 1;
  append_output(rows, view_of("map", values, {1, 2, 1024, 1024}), 1);
  EXPECT_EQ(rows.positions, 1024);
}

}  // namespace
}  // namespace paceline::workload
