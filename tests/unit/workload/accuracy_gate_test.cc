// SPDX-License-Identifier: MIT
#include "workload/inference/gate/accuracy_gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "support/words.h"
#include "workload/inference/gate/columns.h"

namespace paceline::workload {
namespace {

using test::says;

constexpr std::int64_t kClassCount = 10;
const pass::Tolerance kLoose{0.3, 0.95}, kNone{1e9, -1};

// Scores of a trained classifier, with a clear answer that depends on the input.
ComparedRows classifier(std::int64_t samples) {
  ComparedRows rows{samples, 1, kClassCount, {}, true};
  const CounterRng rng(7, 7);
  for (std::int64_t s = 0; s < samples; ++s)
    for (std::int64_t i = 0; i < kClassCount; ++i)
      rows.values.push_back(static_cast<float>(rng.normal(static_cast<std::uint64_t>(s * kClassCount + i))) +
                            (s % kClassCount == i ? 8.0F : 0.0F));
  return rows;
}

// The first `count` samples answer something else.
ComparedRows with_flipped_answers(ComparedRows rows, std::int64_t count) {
  for (std::int64_t s = 0; s < count; ++s)
    rows.values[static_cast<std::size_t>(s * kClassCount + (s + 1) % kClassCount)] += 20;
  return rows;
}

std::vector<std::int64_t> truth(std::int64_t samples) {
  std::vector<std::int64_t> labels;
  for (std::int64_t s = 0; s < samples; ++s) labels.push_back(s % kClassCount);
  return labels;
}

pass::AccuracyQuestion trained(double max_changed = 0.1, double claim = 0) {
  pass::AccuracyQuestion question;
  question.answers = "classes";
  question.trained = true;
  question.max_changed = max_changed;
  question.claim = claim;
  return question;
}

result::Correctness judged(std::int64_t samples, std::int64_t flipped,
                           const pass::AccuracyQuestion& question) {
  const auto reference = classifier(samples);
  return judge_outputs(with_flipped_answers(reference, flipped), &reference, kNone, question);
}

TEST(AccuracyGate, TrainedWeightsAreJudgedByTheirAnswers) {
  const auto c = judged(64, 0, trained());
  EXPECT_TRUE(c.checked && c.passed);
  EXPECT_EQ(c.judged_by, "answers");
  EXPECT_EQ(*c.max_changed_tolerance, 0.1);
  EXPECT_FALSE(c.max_rel_err_tolerance);
  EXPECT_FALSE(c.claim.limit);
}

TEST(AccuracyGate, RandomWeightsAreJudgedByTheCentredCosineAndItSaysSo) {
  auto question = trained();
  question.trained = false;
  const auto reference = classifier(64);
  const auto c = judge_outputs(with_flipped_answers(reference, 64), &reference, {1e9, 0.95}, question);
  EXPECT_EQ(c.judged_by, "outputs");
  EXPECT_TRUE(says(c.judged_because, "random weights"));
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(says(c.detail, "centred cosine"));
}

std::vector<double> squares(const ComparedRows& rows, double change) {
  return std::vector<double>(Columns(rows).size(), change * change);
}

ComparedRows with_yardstick(ComparedRows rows, double ulp, double layer) {
  Yardstick yard;
  yard.inputs = squares(rows, ulp), yard.layer = squares(rows, layer);
  yard.layer_name = "conv1";
  rows.yardstick = std::move(yard);
  return rows;
}

ComparedRows moved(ComparedRows rows, float by) {
  for (auto& v : rows.values) v += by;
  return rows;
}

pass::Tolerance in_ulps(double limit, bool rounds = false) {
  pass::Tolerance tolerance{1e-9, 1};
  tolerance.ulps = limit;
  tolerance.rounds = rounds;
  return tolerance;
}

TEST(AccuracyGate, TheReferencesOwnSensitivityIsTheUnit) {
  const auto reference = with_yardstick(classifier(64), 0.01, 1);
  const auto within = judge_outputs(moved(reference, 0.04F), &reference, in_ulps(5), {});
  EXPECT_EQ(within.verdict, answer::Verdict::kYes) << within.detail;
  EXPECT_NEAR(*within.outputs.at(0).error_ulps, 4, 0.01);
  EXPECT_EQ(within.outputs.at(0).judged_by, "ulps");
  const auto beyond = judge_outputs(moved(reference, 0.06F), &reference, in_ulps(5), {});
  EXPECT_EQ(beyond.verdict, answer::Verdict::kNo);
  EXPECT_TRUE(says(beyond.detail, "6 times what one unit in the last place of the inputs changes"))
      << beyond.detail;
}

TEST(AccuracyGate, WhereARoughLayerWouldNotBeSeenItCannotSay) {
  const auto reference = with_yardstick(classifier(64), 0.01, 0.02);
  const auto c = judge_outputs(moved(reference, 0.01F), &reference, in_ulps(5), {});
  EXPECT_EQ(c.verdict, answer::Verdict::kCannotSay);
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(says(c.verdict_because, "rounding conv1 to bfloat16")) << c.verdict_because;
  EXPECT_EQ(judge_outputs(moved(reference, 0.06F), &reference, in_ulps(5), {}).verdict, answer::Verdict::kNo)
      << "what is wrong by more than the limit is wrong";
}

TEST(AccuracyGate, TheLargestOfThreeSmallChangesIsTheUnit) {
  struct Row {
    std::vector<double> Yardstick::*change;
    const char* words;
  };
  for (const auto& [change, words] : {Row{&Yardstick::weights, "one unit in the last place of the weights"},
                                      Row{&Yardstick::order, "another order of its sums"}}) {
    auto reference = with_yardstick(classifier(64), 0.01, 1);
    (*reference.yardstick).*change = squares(reference, 0.02);
    EXPECT_EQ(judge_outputs(moved(reference, 0.06F), &reference, in_ulps(5), {}).verdict,
              answer::Verdict::kYes)
        << words;
    const auto c = judge_outputs(moved(reference, 0.11F), &reference, in_ulps(5), {});
    EXPECT_EQ(c.verdict, answer::Verdict::kNo);
    EXPECT_TRUE(says(c.detail, words)) << c.detail;
  }
}

TEST(AccuracyGate, RoundingThatMayCostMoreThanTheInputChangesSaysNothing) {
  const auto reference = with_yardstick(classifier(64), 0.01, 1);
  EXPECT_EQ(judge_outputs(reference, &reference, in_ulps(50, true), {}).verdict, answer::Verdict::kYes);
  const auto c = judge_outputs(reference, &reference, in_ulps(500, true), {});
  EXPECT_EQ(c.verdict, answer::Verdict::kCannotSay);
  EXPECT_TRUE(says(c.verdict_because, "the limit for rounding is 5")) << c.verdict_because;
}

// Pixels, and scores a thousandth as large, in four columns each; rounding changes all by 1e-6 of their size.
ComparedRows detector() {
  ComparedRows rows{16, 20, 8, {}, true, 0, 20, DType::kFloat32};
  rows.sample_shape = {20, 8};
  const CounterRng rng(5, 5);
  for (std::size_t i = 0; i < 16 * 20 * 8; ++i)
    rows.values.push_back(static_cast<float>(rng.normal(i) * (i % 8 < 4 ? 300 : 0.3)));
  Yardstick yard;
  const Columns columns(rows);
  const auto size = columns.means(rows.samples, [&](std::size_t i) {
    return static_cast<double>(rows.values[i]) * static_cast<double>(rows.values[i]);
  });
  for (const double square : size) yard.inputs.push_back(square * 1e-12), yard.layer.push_back(square * 1e-4);
  yard.layer_name = "conv1";
  rows.yardstick = std::move(yard);
  return rows;
}

template <typename Change>
result::Correctness detected(const pass::Tolerance& tolerance, const Change& change) {
  const auto reference = detector();
  auto outputs = reference;
  for (std::size_t i = 0; i < outputs.values.size(); i += 8) change(&outputs.values[i]);
  return judge_outputs(outputs, &reference, tolerance, {});
}

TEST(AccuracyGate, SmallColumnsAreNotHiddenByLargeOnes) {
  const auto same = [](float*) {};
  const auto no_scores = [](float* row) { std::fill(row + 4, row + 8, 0.0F); };
  const auto swapped = [](float* row) { std::swap(row[5], row[6]); };
  const auto five_percent = [](float* row) { row[7] *= 1.05F; };
  const auto bf16 = in_ulps(5e4, true), fp32 = in_ulps(5);
  for (const auto& tolerance : {bf16, fp32})
    EXPECT_EQ(detected(tolerance, same).verdict, answer::Verdict::kYes);
  for (const auto& tolerance : {bf16, fp32})
    EXPECT_EQ(detected(tolerance, no_scores).verdict, answer::Verdict::kNo);
  for (const auto& tolerance : {bf16, fp32})
    EXPECT_EQ(detected(tolerance, swapped).verdict, answer::Verdict::kNo);
  const auto c = detected(fp32, five_percent);
  EXPECT_EQ(c.verdict, answer::Verdict::kNo);
  EXPECT_TRUE(says(c.detail, "the error of its values of about 0.3")) << c.detail;
}

TEST(AccuracyGate, AClassOfAMapIsAColumnToo) {
  ComparedRows reference{4, 2 * 8, 8, {}, true, 0, 16, DType::kFloat32};
  reference.sample_shape = {2, 8, 8};
  const CounterRng rng(5, 6);
  for (std::size_t i = 0; i < 4 * 128; ++i)
    reference.values.push_back(static_cast<float>(rng.normal(i) * (i % 128 < 64 ? 1000 : 0.001)));
  reference = with_yardstick(reference, 0, 0);
  Yardstick& yard = *reference.yardstick;
  const auto size = Columns(reference).means(4, [&](std::size_t i) {
    return static_cast<double>(reference.values[i]) * static_cast<double>(reference.values[i]);
  });
  for (std::size_t c = 0; c < size.size(); ++c)
    yard.inputs[c] = size[c] * 1e-12, yard.layer[c] = size[c] * 1e-4;
  auto outputs = reference;
  for (std::size_t i = 0; i < 4 * 128; ++i) outputs.values[i] *= i % 128 < 64 ? 1.0F : 1.05F;
  EXPECT_EQ(judge_outputs(outputs, &reference, in_ulps(5), {}).verdict, answer::Verdict::kNo);
  EXPECT_EQ(judge_outputs(reference, &reference, in_ulps(5), {}).verdict, answer::Verdict::kYes);
}

ComparedRows labels(std::vector<float> values) {
  ComparedRows rows{std::ssize(values), 1, 1, values, true, 0, 1, DType::kInt64};
  rows.yardstick = Yardstick{};
  rows.yardstick->flips.assign(values.size(), false);
  return rows;
}

TEST(AccuracyGate, ALabelMayDifferOnlyWhereRoundingDecides) {
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<float>(i % 5));
  auto reference = labels(values);
  auto outputs = reference;
  outputs.values[3] = 4;
  pass::AccuracyQuestion question;
  question.answers = "integers";
  question.max_changed = 0.02;
  const auto c = judge_outputs(outputs, &reference, in_ulps(5), question);
  EXPECT_EQ(c.verdict, answer::Verdict::kNo);
  EXPECT_TRUE(says(c.detail, "differ for 1 of 16 inputs although rounding changes none of theirs"))
      << c.detail;
  reference.yardstick->flips[3] = true;
  EXPECT_EQ(judge_outputs(outputs, &reference, in_ulps(5), question).verdict, answer::Verdict::kYes);
}

pass::AccuracyQuestion in_int8(bool generated) {
  auto question = trained();
  question.needs_evidence = question.eight_bits = true;
  question.generated = generated;
  return question;
}

TEST(AccuracyGate, NoiseDecidesNothingAboutEightBits) {
  const auto reference = classifier(64);
  const auto outputs = with_flipped_answers(reference, 64);
  auto question = in_int8(true);
  const auto c = judge_outputs(outputs, &reference, {0.3, 0.95}, question);
  EXPECT_EQ(c.verdict, answer::Verdict::kCannotSay);
  EXPECT_TRUE(says(c.verdict_because, "whether its answers hold needs yours (--load-inputs, --calib-data)"))
      << c.verdict_because;
  EXPECT_TRUE(c.needs_inputs && c.generated_inputs);
  EXPECT_GT(*c.max_rel_err, 0.3) << "the figures are still shown";
  question.generated = question.trained = false;
  const auto random_weights = judge_outputs(outputs, &reference, {0.3, 0.95}, question);
  EXPECT_EQ(random_weights.verdict, answer::Verdict::kCannotSay);
  EXPECT_FALSE(random_weights.needs_inputs || random_weights.generated_inputs);
  question.eight_bits = false;  // limits of the user's own
  EXPECT_EQ(judge_outputs(outputs, &reference, {0.3, 0.95}, question).verdict, answer::Verdict::kNo);
}

TEST(AccuracyGate, ErrorsBelowAStepOfEightBitsCannotBeJudged) {
  auto reference = classifier(64);
  for (std::size_t i = 0; i < reference.values.size(); ++i)
    reference.values[i] = reference.values[i] * 1e-6F + (i % kClassCount == 3 ? 20.0F : 0.0F);
  auto outputs = reference;
  for (auto& v : outputs.values) v = std::round(v * 10) / 10;
  const auto c = judge_outputs(outputs, &reference, {0.3, 0.95}, in_int8(false));
  EXPECT_EQ(c.verdict, answer::Verdict::kCannotSay) << c.detail;
  EXPECT_TRUE(says(c.verdict_because, "less than one step of eight bits")) << c.verdict_because;
}

TEST(AccuracyGate, AConstantOutputBesideOthersIsLeftAside) {
  const auto seen = with_yardstick(classifier(64), 0.01, 1),
             constant = with_yardstick(classifier(64), 0.01, 0);
  const ComparedOutputs both{{seen, ""}, {constant, ""}}, alone{{constant, ""}};
  EXPECT_EQ(judge_all(both, &both, in_ulps(5), {}).verdict, answer::Verdict::kYes);
  EXPECT_EQ(judge_all(alone, &alone, in_ulps(5), {}).verdict, answer::Verdict::kCannotSay);
}

TEST(AccuracyGate, AnswersToRandomNumbersMeanNothing) {
  auto question = trained();
  question.generated = true;
  for (const bool int8 : {false, true}) {
    question.needs_evidence = int8;
    const auto reference = classifier(64);
    const auto c = judge_outputs(with_flipped_answers(reference, 64), &reference, {1e9, 0.95}, question);
    EXPECT_EQ(c.judged_by, "outputs");
    EXPECT_EQ(c.verdict, answer::Verdict::kNo)
        << "outputs that all differ are wrong, whatever their inputs are";
  }
}

TEST(AccuracyGate, FewInputsCannotSayWhatEightBitsCost) {
  auto question = trained();
  question.needs_evidence = true;
  EXPECT_EQ(judged(64, 0, question).verdict, answer::Verdict::kYes);
  const auto few = judged(16, 0, question);
  EXPECT_EQ(few.verdict, answer::Verdict::kCannotSay);
  EXPECT_TRUE(says(few.verdict_because, "16 inputs allow up to 17.07 % changed answers"))
      << few.verdict_because;
  EXPECT_TRUE(says(few.verdict_because, "give more (--load-inputs, --image-dir)")) << few.verdict_because;
  question.samples_given = 40;
  EXPECT_TRUE(
      says(judged(16, 0, question).verdict_because, "compare more of those given (--accuracy-samples 40)"));
}

TEST(AccuracyGate, AClassThatIsLostIsNamed) {
  const auto reference = classifier(100);
  auto outputs = reference;
  for (std::int64_t s = 3; s < 100; s += kClassCount)
    outputs.values[static_cast<std::size_t>(s * kClassCount + 3)] -= 100;
  const auto c = judge_outputs(outputs, &reference, kNone, trained(0.2));
  EXPECT_EQ(c.verdict, answer::Verdict::kNo);
  EXPECT_TRUE(says(c.detail, "class 3 is never predicted any more; the reference predicts it for 10 of 100"))
      << c.detail;
}

TEST(AccuracyGate, OneAnswerForEveryInputMeansNothing) {
  auto reference = classifier(64);
  for (std::int64_t s = 0; s < 64; ++s) reference.values[static_cast<std::size_t>(s * kClassCount)] += 100;
  const auto c = judge_outputs(reference, &reference, kLoose, trained(0.1, 0.05));
  EXPECT_EQ(c.judged_by, "outputs");
  EXPECT_TRUE(says(c.judged_because, "same answer to 100 % of the inputs")) << c.judged_because;
  EXPECT_EQ(c.claim.verdict, answer::Verdict::kCannotSay);
}

TEST(AccuracyGate, AFileCanHoldRandomWeightsToo) {
  // Two answers, but what differs between inputs is small beside what they share.
  auto reference = classifier(64);
  for (std::int64_t s = 0; s < 64; ++s)
    for (std::int64_t i = 0; i < kClassCount; ++i)
      reference.values[static_cast<std::size_t>(s * kClassCount + i)] += i < 2 ? 500.0F : 0.0F;
  const auto c = judge_outputs(reference, &reference, kLoose, trained(0.1, 0.05));
  EXPECT_GT(*c.reference_answers, 1);
  EXPECT_EQ(c.judged_by, "outputs");
  EXPECT_TRUE(says(c.judged_because, "common to all inputs, as with random weights")) << c.judged_because;
  EXPECT_EQ(c.claim.verdict, answer::Verdict::kCannotSay);
}

TEST(AccuracyGate, ScoresMultipliedByFourKeepTheirAnswers) {
  // A scale on the scores alone is seen by the errors, not by the answers: who wants it judged says so.
  const auto reference = classifier(64);
  auto outputs = reference;
  for (auto& v : outputs.values) v *= 4;
  EXPECT_TRUE(judge_outputs(outputs, &reference, kLoose, trained()).passed);
  auto question = trained();
  question.outputs_decide_too = true;
  const auto c = judge_outputs(outputs, &reference, kLoose, question);
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(says(c.detail, "max error 3 exceeds 0.3")) << c.detail;
}

TEST(AccuracyGate, MissedOnlyWhereChanceDoesNotExplainIt) {
  EXPECT_TRUE(judged(64, 6, trained(0.1)).passed);    // 9.4 %
  EXPECT_TRUE(judged(64, 10, trained(0.1)).passed);   // 15.6 %, and at least 8.8 %
  EXPECT_FALSE(judged(64, 13, trained(0.1)).passed);  // 20 %, at least 12.5 %
  EXPECT_FALSE(judged(1000, 130, trained(0.1)).passed);
  EXPECT_TRUE(says(judged(64, 13, trained(0.1)).detail, "of 64 inputs, more than the 10 % accepted"));
}

TEST(AccuracyGate, NaNFailsWithAndWithoutAReference) {
  auto outputs = classifier(8);
  outputs.values[3] = std::numeric_limits<float>::quiet_NaN();
  outputs.finite = false;
  const auto reference = classifier(8);
  for (const ComparedRows* against : {&reference, static_cast<const ComparedRows*>(nullptr)}) {
    const auto c = judge_outputs(outputs, against, kNone, trained());
    EXPECT_TRUE(c.checked);
    EXPECT_FALSE(c.passed);
    EXPECT_TRUE(says(c.detail, "NaN"));
  }
}

TEST(AccuracyGate, WithoutAReferenceNothingIsJudged) {
  const auto c = judge_outputs(classifier(8), nullptr, kNone, trained(0.1, 0.005));
  EXPECT_FALSE(c.checked || c.passed);
  EXPECT_EQ(c.claim.verdict, answer::Verdict::kCannotSay);
  EXPECT_TRUE(says(c.claim.detail, "no reference"));
}

TEST(AccuracyClaim, SixtyFourInputsCannotCarryHalfAPercent) {
  const auto c = judged(64, 0, trained(0.1, 0.005));
  EXPECT_TRUE(c.passed);  // the check; the claim is another question
  EXPECT_EQ(c.claim.verdict, answer::Verdict::kCannotSay);
  EXPECT_EQ(*c.claim.inputs_needed, 598);
  EXPECT_NEAR(*c.claim.bound, 0.0457, 5e-5);  // 1 - 0.05^(1/64)
  EXPECT_TRUE(says(c.claim.detail, "--accuracy-samples 598")) << c.claim.detail;
}

TEST(AccuracyClaim, SixHundredInputsWithoutAChangeCarryIt) {
  EXPECT_EQ(judged(598, 0, trained(0.1, 0.005)).claim.verdict, answer::Verdict::kYes);
  EXPECT_EQ(judged(597, 0, trained(0.1, 0.005)).claim.verdict, answer::Verdict::kCannotSay);
}

TEST(AccuracyClaim, OneChangeInSixHundredIsTooMany) {
  const auto c = judged(600, 1, trained(0.1, 0.005));
  EXPECT_EQ(c.claim.verdict, answer::Verdict::kCannotSay);
  EXPECT_GT(*c.claim.inputs_needed, 600);
  EXPECT_TRUE(c.passed);
}

TEST(AccuracyClaim, ManyChangesFailIt) {
  const auto c = judged(600, 12, trained(0.1, 0.005));
  EXPECT_EQ(c.claim.verdict, answer::Verdict::kNo);
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(says(c.detail, "top-1 changes by 0.5 % or more")) << c.detail;
}

TEST(AccuracyClaim, AtTheLimitNoNumberOfInputsDoes) {
  const auto c = judged(200, 1, trained(0.1, 0.005));  // 0.5 % seen
  EXPECT_EQ(c.claim.verdict, answer::Verdict::kCannotSay);
  EXPECT_FALSE(c.claim.inputs_needed);
  EXPECT_TRUE(says(c.claim.detail, "no number of inputs"));
}

TEST(AccuracyClaim, FewerInputsThanAskedForAreNamed) {
  auto question = trained(0.1, 0.005);
  question.samples_asked = 600;
  EXPECT_TRUE(says(judged(64, 0, question).claim.detail, "64 inputs (distinct ones; 600 asked for)"));
}

TEST(AccuracyClaim, LabelsAskAboutAccuracyAndNotAboutAnswers) {
  auto question = trained(1, 0.02);
  question.labels = truth(600);
  const auto reference = with_flipped_answers(classifier(600), 30);  // wrong on the first 30
  auto outputs = classifier(600);
  // Right on those, wrong on the last 30: a tenth of the answers change, the accuracy does not.
  for (std::int64_t s = 570; s < 600; ++s)
    outputs.values[static_cast<std::size_t>(s * kClassCount + (s + 1) % kClassCount)] += 20;
  const auto c = judge_outputs(outputs, &reference, kNone, question);
  EXPECT_DOUBLE_EQ(*c.labelled.change.value, 0);
  EXPECT_NEAR(*c.top1.value, 0.9, 1e-9);
  EXPECT_EQ(c.claim.basis, "labels");
  EXPECT_EQ(c.claim.verdict, answer::Verdict::kCannotSay);  // 60 discordant pairs are noise of +-2.1 points
  question.claim = 0.03;
  EXPECT_EQ(judge_outputs(outputs, &reference, kNone, question).claim.verdict, answer::Verdict::kYes);
}

TEST(AccuracyClaim, AGainIsNoFailure) {
  auto question = trained(1, 0.005);
  question.labels = truth(600);
  const auto outputs = classifier(600), reference = with_flipped_answers(outputs, 60);
  EXPECT_EQ(judge_outputs(outputs, &reference, kNone, question).claim.verdict, answer::Verdict::kYes);
  EXPECT_EQ(judge_outputs(reference, &outputs, kNone, question).claim.verdict, answer::Verdict::kNo);
}

TEST(AccuracyClaim, LabelsNeedAsManyInputsAsTheExactBinomial) {
  auto question = trained(1, 0.005);
  question.labels = truth(597);
  const auto rows = classifier(597);
  EXPECT_EQ(judge_outputs(rows, &rows, kNone, question).claim.verdict, answer::Verdict::kCannotSay);
  question.labels = truth(598);
  const auto enough = classifier(598);
  EXPECT_EQ(judge_outputs(enough, &enough, kNone, question).claim.verdict, answer::Verdict::kYes);
}

TEST(AccuracyClaim, RandomWeightsClaimNothing) {
  auto question = trained(1, 0.005);
  question.trained = false;
  const auto c = judged(600, 0, question);
  EXPECT_EQ(c.claim.verdict, answer::Verdict::kCannotSay);
  EXPECT_TRUE(says(c.claim.detail, "random weights")) << c.claim.detail;
}

}  // namespace
}  // namespace paceline::workload
