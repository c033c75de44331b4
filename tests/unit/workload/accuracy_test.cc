// SPDX-License-Identifier: MIT
#include "workload/inference/gate/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"
#include "workload/inference/gate/accuracy_gate.h"

namespace paceline::workload {
namespace {

const pass::Tolerance kTight{1e-5, 0.99999};

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

result::Correctness agreement(const ComparedRows& a, const ComparedRows& b,
                              const std::string& answers = "classes") {
  result::Correctness c;
  measure_agreement(c, a, b, answers);
  return c;
}

// One row a sample, whose largest element is at the answer.
ComparedRows answers(const std::vector<int>& classes, std::int64_t length = 10) {
  ComparedRows rows{static_cast<std::int64_t>(classes.size()), 1, length, {}, true};
  for (const int answer : classes)
    for (int i = 0; i < length; ++i)
      rows.values.push_back(i == answer ? 5.0F : -0.01F * static_cast<float>(i));
  return rows;
}

TEST(Accuracy, EqualOutputsPass) {
  const auto c = compare_outputs(outputs(8, 0, 1), outputs(8, 0, 1), kTight);
  EXPECT_TRUE(c.passed);
  EXPECT_EQ(*c.max_rel_err, 0);
  EXPECT_NEAR(*c.centred_cosine, 1, 1e-12);
  EXPECT_EQ(c.samples, 8);
}

TEST(Accuracy, CentredCosineSeesWhatTheCommonPartHides) {
  // Noise as large as what tells samples apart: top-1 and plain cosine look perfect, the centred cosine does
  // not.
  const auto c = compare_outputs(outputs(8, 1.0, 5), outputs(8, 0, 1), {0.5, 0.98});
  EXPECT_EQ(*agreement(outputs(8, 1.0, 5), outputs(8, 0, 1)).top1.value, 1);
  EXPECT_GT(*c.cosine, 0.999);
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

TEST(Agreement, CountsAnswersThatAreTheSame) {
  const auto c = agreement(answers({0, 1, 2, 3}), answers({0, 1, 2, 9}));
  EXPECT_DOUBLE_EQ(*c.top1.value, 0.75);
  EXPECT_NEAR(*c.top1.ci_low, 0.1941, 5e-5);  // Clopper-Pearson, 3 of 4
  EXPECT_NEAR(*c.top1.ci_high, 0.9937, 5e-5);
  EXPECT_EQ(c.top1.ci_method, "clopper_pearson");
  EXPECT_EQ(*c.reference_answers, 4);
  EXPECT_DOUBLE_EQ(*c.top1_agreement, 0.75);
}

TEST(Agreement, TopFiveHoldsTheReferencesAnswer) {
  // The other elements fall from the first to the last: those before index 4 and the answer are the five
  // largest.
  const auto c = agreement(answers({9, 9, 9}), answers({3, 4, 9}));
  EXPECT_NEAR(*c.top5.value, 2.0 / 3, 1e-12);
  EXPECT_FALSE(agreement(answers({1}, 5), answers({1}, 5)).top5.value);
}

TEST(Agreement, DivergenceOfTwoClasses) {
  // softmax(ln 3, 0) = (3/4, 1/4) against (1/2, 1/2): KL = 3/4 ln(3/2) + 1/4 ln(1/2).
  const ComparedRows a{1, 1, 2, {0, 0}, true}, b{1, 1, 2, {std::log(3.0F), 0}, true};
  EXPECT_NEAR(*agreement(a, b).kl_nats, 0.75 * std::log(1.5) + 0.25 * std::log(0.5), 1e-6);
  EXPECT_NEAR(*agreement(b, b).kl_nats, 0, 1e-12);
}

TEST(Agreement, DivergenceOfLargeScoresIsFinite) {
  const ComparedRows a{1, 1, 3, {1e4F, 0, -1e4F}, true}, b{1, 1, 3, {0, 1e4F, -1e4F}, true};
  EXPECT_NEAR(*agreement(a, b).kl_nats, 1e4, 1);
}

TEST(Agreement, CosineAndErrors) {
  const ComparedRows a{2, 1, 2, {3, 4, 1, 0}, true}, b{2, 1, 2, {4, 3, 1, 0}, true};
  const auto c = agreement(a, b);
  EXPECT_NEAR(*c.cosine, 24.0 / 25, 1e-12);
  EXPECT_DOUBLE_EQ(*c.max_abs_err, 1);
  EXPECT_DOUBLE_EQ(*c.max_rel_err, 0.25);
}

TEST(Agreement, ASequenceIsOneObservation) {
  // Two sequences of four tokens; one token of eight differs.
  auto a = answers({0, 1, 2, 3, 4, 5, 6, 7}), b = answers({0, 1, 2, 3, 4, 5, 6, 8});
  for (auto* rows : {&a, &b}) rows->samples = 2, rows->positions = 4;
  const auto c = agreement(a, b, "tokens");
  EXPECT_DOUBLE_EQ(*c.next_token.value, 7.0 / 8);
  EXPECT_EQ(c.next_token.ci_method, "clopper_pearson_samples");
  EXPECT_LT(*c.next_token.ci_low, 0.2);  // two observations, not eight (which would give 0.47)
  EXPECT_FALSE(c.top1.value);
  EXPECT_DOUBLE_EQ(*c.top1_agreement, 7.0 / 8);
}

TEST(Agreement, WithoutClassesThereAreNoAnswers) {
  const auto c = agreement(outputs(8, 0, 1), outputs(8, 0, 1), "none");
  EXPECT_FALSE(c.top1.value || c.kl_nats || c.next_token.value || c.top1_agreement);
  EXPECT_NE(c.top1.value.reason().find("no class scores"), std::string::npos);
}

TEST(Agreement, CommonShare) {
  EXPECT_NEAR(common_share({2, 1, 2, {1, -1, 1, -1}, true}), 1, 1e-12);
  EXPECT_NEAR(common_share({2, 1, 2, {1, -1, -1, 1}, true}), 0, 1e-12);
  EXPECT_NEAR(common_share({2, 1, 2, {101, 99, 99, 101}, true}), 0, 1e-12);  // an offset of a row is nothing
  EXPECT_GT(common_share(outputs(16, 0, 1)), 0.99);
}

TEST(Labelled, ChangeIsPaired) {
  const std::vector<std::int64_t> truth{0, 1, 2, 3, 4, 5};
  const auto reference = answers({0, 1, 2, 3, 9, 9}), mine = answers({0, 1, 9, 9, 4, 9});
  const auto found = measure_labelled(mine, &reference, truth, "labels.txt");
  EXPECT_DOUBLE_EQ(*found.reference_top1.value, 4.0 / 6);
  EXPECT_DOUBLE_EQ(*found.top1.value, 3.0 / 6);
  EXPECT_NEAR(*found.change.value, -1.0 / 6, 1e-12);
  EXPECT_EQ(*found.lost, 2);
  EXPECT_EQ(*found.gained, 1);
  EXPECT_LT(*found.change.ci_low, -1.0 / 6);
  EXPECT_GT(*found.change.ci_high, 0);
}

TEST(Labelled, ALabelOutsideTheClassesIsNamed) {
  const auto rows = answers({0, 1});
  try {
    measure_labelled(rows, nullptr, std::vector<std::int64_t>{0, 10}, "l.txt");
    FAIL() << "label 10 of 10 classes was accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("label 2 is 10, the model has 10 classes (0 to 9)"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace paceline::workload
