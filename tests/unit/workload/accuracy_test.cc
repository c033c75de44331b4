// SPDX-License-Identifier: MIT
#include "workload/inference/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"

namespace paceline::workload {
namespace {

const Tolerance kTight{1e-5, 0.99999};

// Outputs that share a large common part, as those of a network with random weights do.
ComparedRows outputs(std::int64_t samples, double noise, std::uint64_t seed) {
  ComparedRows rows{samples, 1, 100, {}, true};
  const CounterRng common(1, 1), own(1, 2), error(seed, 3);
  for (std::int64_t s = 0; s < samples; ++s)
    for (std::int64_t i = 0; i < 100; ++i) {
      const auto at = static_cast<std::uint64_t>(s * 100 + i);
      rows.values.push_back(static_cast<float>(100 * common.normal(static_cast<std::uint64_t>(i)) +
                                               own.normal(at) + noise * error.normal(at)));
    }
  return rows;
}

TEST(Accuracy, EqualOutputsPass) {
  const auto c = compare_outputs(outputs(8, 0, 1), outputs(8, 0, 1), kTight);
  EXPECT_TRUE(c.passed);
  EXPECT_EQ(*c.max_rel_err, 0);
  EXPECT_NEAR(*c.centred_cosine, 1, 1e-12);
  EXPECT_EQ(*c.top1_agreement, 1);
  EXPECT_EQ(c.samples, 8);
}

TEST(Accuracy, CentredCosineSeesWhatTheCommonPartHides) {
  // Noise as large as what tells samples apart: top-1 and plain cosine look perfect, the centred cosine does
  // not.
  const auto c = compare_outputs(outputs(8, 1.0, 5), outputs(8, 0, 1), {0.5, 0.98});
  EXPECT_EQ(*c.top1_agreement, 1);
  EXPECT_LT(*c.max_rel_err, 0.05);
  EXPECT_LT(*c.centred_cosine, 0.9);
  EXPECT_FALSE(c.passed);
  EXPECT_NE(c.detail.find("centred cosine"), std::string::npos);
}

TEST(Accuracy, MaxErrorIsRelativeToTheReferencesLargest) {
  auto a = outputs(4, 0, 1), b = a;
  float largest = 0;
  for (float v : b.values) largest = std::max(largest, std::abs(v));
  a.values[7] += 0.01F * largest;
  const auto c = compare_outputs(a, b, kTight);
  EXPECT_NEAR(*c.max_rel_err, 0.01, 1e-4);
  EXPECT_FALSE(c.passed);
}

TEST(Accuracy, OneSampleHasNoCentredCosine) {
  const auto c = compare_outputs(outputs(1, 0, 1), outputs(1, 0, 1), kTight);
  EXPECT_FALSE(c.centred_cosine);
  EXPECT_TRUE(c.passed);
}

TEST(Accuracy, ConstantOutputsDoNotPassAsEqual) {
  auto a = outputs(8, 0, 1);
  for (std::size_t i = 100; i < a.values.size(); ++i) a.values[i] = a.values[i % 100];  // ignores its input
  EXPECT_EQ(*compare_outputs(a, outputs(8, 0, 1), {1, 0.5}).centred_cosine, 0);
}

TEST(Accuracy, NotFiniteFails) {
  auto a = outputs(2, 0, 1);
  a.values[3] = std::numeric_limits<float>::quiet_NaN();
  a.finite = false;
  EXPECT_FALSE(compare_outputs(a, outputs(2, 0, 1), {1e9, -1}).passed);
}

TEST(Accuracy, ShapesThatDifferAreNamed) {
  const auto c = compare_outputs(outputs(2, 0, 1), outputs(4, 0, 1), kTight);
  EXPECT_FALSE(c.passed);
  EXPECT_NE(c.detail.find("[2, 1, 100]"), std::string::npos);
}

TEST(Accuracy, HalfTypesAreConverted) {
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

TEST(Accuracy, ABatchThatWasIgnoredIsAnError) {
  std::vector<float> one(4);
  const TensorView view{"o", one.data(), DType::kFloat32, {1, 4}, {}, {}};
  ComparedRows rows;
  EXPECT_THROW(append_rows(rows, {&view, 1}, 8), Error);
}

TEST(Accuracy, LongOutputsAreThinnedAlike) {
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

}  // namespace
}  // namespace paceline::workload
