// SPDX-License-Identifier: MIT
#include "workload/inference/gate/compared_outputs.h"

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

TEST(ComparedOutputs, UnitsOfAReferenceAreKept) {
  const test::ScratchFolder folder;
  std::vector<float> a{1, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> b{0, 1, 2};
  ComparedOutputs all;
  append_outputs(
      all, std::array{view_of("a", a, {3, 2}), TensorView{"b", b.data(), DType::kInt64, {3}, {}, {}}}, 3, 3);
  Yardstick units, labels;
  units.inputs = {1e-60, 4}, units.layer = {9, 16}, units.layer_name = "conv1";
  labels.flips = {false, false, true};
  all[0].rows.yardstick = units, all[1].rows.yardstick = labels;
  write_reference(folder.path() / "r.npy", all);
  const auto last = read_reference(folder.path() / "r.npy", 1, 2);
  ASSERT_TRUE(last[0].rows.yardstick && last[1].rows.yardstick);
  EXPECT_EQ(last[0].rows.yardstick->inputs, units.inputs);
  EXPECT_TRUE(last[0].rows.yardstick->weights.empty()) << "was not tried";
  EXPECT_EQ(last[0].rows.yardstick->layer, units.layer);
  EXPECT_EQ(last[0].rows.sample_shape, (Shape{2}));
  EXPECT_EQ(last[1].rows.yardstick->flips, (std::vector<bool>{false, true}))
      << "of the samples that were read";
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
