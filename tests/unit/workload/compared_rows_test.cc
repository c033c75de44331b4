// SPDX-License-Identifier: MIT
#include "workload/inference/gate/compared_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/error.h"

namespace paceline::workload {
namespace {

TEST(ComparedRows, HalfTypesAreConverted) {
  std::vector<std::uint16_t> bf16{0x3f80, 0xc000, 0x0000, 0x7f80}, fp16{0x3c00, 0xc000, 0x0001, 0x7c00};
  ComparedRows a, b;
  const TensorView va{"o", bf16.data(), DType::kBFloat16, {2, 2}, {}, {}},
      vb{"o", fp16.data(), DType::kFloat16, {2, 2}, {}, {}};
  append_rows(a, {&va, 1}, 2);
  append_rows(b, {&vb, 1}, 2);
  EXPECT_EQ(a.values[0], 1.0F);
  EXPECT_EQ(a.values[1], -2.0F);
  EXPECT_EQ(b.values[0], 1.0F);
  EXPECT_EQ(b.values[1], -2.0F);
  EXPECT_EQ(b.values[2], 0x1.0p-24F);
  EXPECT_FALSE(a.finite);
  EXPECT_FALSE(b.finite);
}

TEST(ComparedRows, ABatchThatWasIgnoredIsAnError) {
  std::vector<float> one(4);
  const TensorView view{"o", one.data(), DType::kFloat32, {1, 4}, {}, {}};
  ComparedRows rows;
  EXPECT_THROW(append_rows(rows, {&view, 1}, 8), Error);
}

TEST(ComparedRows, LongOutputsAreThinnedAlike) {
  std::vector<float> logits(2 * 64 * 50000);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i / 50000);
  const TensorView view{"o", logits.data(), DType::kFloat32, {2, 64, 50000}, {}, {}};
  ComparedRows rows;
  append_rows(rows, {&view, 1}, 2);
  EXPECT_EQ(rows.positions, 16);
  EXPECT_EQ(rows.values.size(), 2U * 16 * 50000);
  EXPECT_EQ(rows.values.front(), 3.0F);   // positions 3, 7, …, 63 of the first sample
  EXPECT_EQ(rows.values.back(), 127.0F);  // the last position of the last sample
}

TEST(ComparedRows, ManySamplesKeepFewerPositions) {
  std::vector<float> logits(4 * 50000);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i / 50000);
  const TensorView view{"o", logits.data(), DType::kFloat32, {1, 4, 50000}, {}, {}};
  ComparedRows rows;
  rows.samples_planned = 600;  // 600 x 4 x 50000 would be 480 MB
  append_rows(rows, {&view, 1}, 1);
  EXPECT_EQ(rows.positions, 1);
  EXPECT_EQ(rows.all_positions, 4);
  EXPECT_EQ(rows.values.front(), 3.0F);
}

TEST(ComparedRows, NaNIsSeenWhereNoPositionIsKept) {
  std::vector<float> logits(64 * 50000, 1.0F);
  logits[5] = std::numeric_limits<float>::quiet_NaN();
  const TensorView view{"o", logits.data(), DType::kFloat32, {1, 64, 50000}, {}, {}};
  ComparedRows rows;
  append_rows(rows, {&view, 1}, 1);
  EXPECT_EQ(rows.values.front(), 1.0F);
  EXPECT_FALSE(rows.finite);
}

TEST(ComparedRows, IntegersAreNumbersToo) {
  std::array<std::int64_t, 2> labels{7, -3};
  const TensorView view{"o", labels.data(), DType::kInt64, {2}, {}, {}};
  ComparedRows rows;
  append_rows(rows, {&view, 1}, 2);
  EXPECT_EQ(rows.values, (std::vector<float>{7, -3}));
}

TEST(ComparedRows, AnOutputThatChangesItsLengthIsAnError) {
  std::vector<float> values(20);
  const TensorView ten{"o", values.data(), DType::kFloat32, {2, 10}, {}, {}},
      eight{"o", values.data(), DType::kFloat32, {2, 8}, {}, {}};
  ComparedRows rows;
  append_rows(rows, {&ten, 1}, 2);
  EXPECT_THROW(append_rows(rows, {&eight, 1}, 2), Error);
}

TEST(ComparedRows, SamplesAreSelectedInOrder) {
  const ComparedRows rows{3, 1, 2, {1, 2, 3, 4, 5, 6}, true};
  EXPECT_EQ(select_samples(rows, std::array<std::int64_t, 2>{2, 0}).values, (std::vector<float>{5, 6, 1, 2}));
}

}  // namespace
}  // namespace paceline::workload
