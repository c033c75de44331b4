// SPDX-License-Identifier: MIT
#include "workload/inference/gate/output_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "support/words.h"
#include "workload/inference/gate/accuracy_gate.h"
#include "workload/inference/gate/output_kind.h"

namespace paceline::workload {
namespace {

using test::says;

constexpr std::int64_t kSamples = 8, kChannels = 3, kSide = 32;
const pass::Tolerance kInt8{0.3, 0.95, 0, 0.5, false}, kFp32{1e-4, 0.99999, 0, 1e-4, true};

ComparedRows map(std::int64_t channels,
                 float (*value)(std::int64_t s, std::int64_t c, std::int64_t y, std::int64_t x)) {
  ComparedRows rows{kSamples, channels * kSide, kSide, {}, true, 0, channels * kSide, DType::kFloat32};
  rows.name = "map";
  rows.sample_shape = {channels, kSide, kSide};
  for (std::int64_t s = 0; s < kSamples; ++s)
    for (std::int64_t i = 0; i < channels * kSide * kSide; ++i)
      rows.values.push_back(value(s, i / kSide / kSide, i / kSide % kSide, i % kSide));
  return rows;
}

// A disc at a place of its own in each sample: 0 outside, 1 inside.
float disc(std::int64_t s, std::int64_t, std::int64_t y, std::int64_t x) {
  return std::hypot(static_cast<double>(x - 10 - s), static_cast<double>(y - 22 + s)) < 9 ? 1.0F : 0.0F;
}

// Scores without a sharp edge.
float wave(std::int64_t s, std::int64_t c, std::int64_t y, std::int64_t x) {
  return static_cast<float>(4 * std::sin(0.35 * static_cast<double>(x + 3 * s) + static_cast<double>(c)) *
                            std::cos(0.25 * static_cast<double>(y - 2 * s)));
}

pass::AccuracyQuestion untold() {
  pass::AccuracyQuestion question;
  question.answers = kAutoKind;
  question.trained = true;
  question.max_changed = 0.1;
  return question;
}

result::Correctness judged(const ComparedRows& outputs, const ComparedRows& reference,
                           const pass::Tolerance& tolerance, const std::string& kind = kAutoKind) {
  auto question = untold();
  question.answers = kind;
  const ComparedOutputs references{{reference, ""}};
  return judge_all({{outputs, ""}}, &references, tolerance, question);
}

double iou(const ComparedRows& a, const ComparedRows& b) {
  double both = 0, any = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const bool x = a.values[i] > 0.5F, y = b.values[i] > 0.5F;
    both += x && y ? 1 : 0, any += x || y ? 1 : 0;
  }
  return both / any;
}

// Effect of 8 bits on a mask: a few pixels of the edge change sides, the others are a little off.
ComparedRows quantised_mask(ComparedRows rows) {
  const CounterRng rng(3, 3);
  std::size_t edges = 0;
  for (std::size_t i = 1; i < rows.values.size(); ++i) {
    const bool edge = rows.values[i] != rows.values[i - 1];
    if (edge && ++edges % 25 == 0) rows.values[i - 1] = rows.values[i];
  }
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    rows.values[i] += 0.01F * static_cast<float>(rng.normal(i));
  return rows;
}

TEST(DenseOutput, AMaskWithAFewWrongPixelsPassesInInt8) {
  const auto reference = map(1, disc);
  const auto outputs = quantised_mask(reference);
  EXPECT_GT(iou(outputs, reference), 0.98);
  EXPECT_LT(iou(outputs, reference), 0.995);
  const auto c = judged(outputs, reference, kInt8);
  EXPECT_TRUE(c.passed) << c.detail;
  EXPECT_GT(*c.max_rel_err, 0.9);  // reported, and far beyond 0.3
  EXPECT_GT(*c.centred_cosine, 0.97);
  EXPECT_EQ(c.outputs.front().judged_by, "quantile_error");
  EXPECT_LT(*c.outputs.front().quantile_err, 0.1);
  EXPECT_EQ(*c.quantile_err_tolerance, 0.5);
}

TEST(DenseOutput, InFp32AWrongPixelIsAnError) {
  const auto reference = map(1, disc);
  const auto c = judged(quantised_mask(reference), reference, kFp32);
  EXPECT_FALSE(c.passed);
  EXPECT_EQ(c.outputs.front().judged_by, "max_error");
  EXPECT_TRUE(says(c.detail, "output 'map' (dense): max error")) << c.detail;
  EXPECT_TRUE(says(c.detail, "--accuracy.max_rel_err")) << c.detail;
}

TEST(DenseOutput, AShiftedMapFails) {
  for (const auto& reference : {map(1, disc), map(kChannels, wave)}) {
    auto shifted = reference;
    std::rotate(shifted.values.begin(), shifted.values.begin() + 6, shifted.values.end());
    const auto c = judged(shifted, reference, kInt8);
    EXPECT_FALSE(c.passed);
    EXPECT_TRUE(says(c.detail, "0.98 quantile")) << c.detail;
    EXPECT_TRUE(says(c.detail, "--accuracy.quantile_err")) << c.detail;
  }
}

TEST(DenseOutput, AConstantChannelFails) {
  const auto reference = map(kChannels, wave);
  auto outputs = reference;
  for (std::int64_t s = 0; s < kSamples; ++s)
    for (std::int64_t i = 0; i < kSide * kSide; ++i)
      outputs.values[static_cast<std::size_t>((s * kChannels + 1) * kSide * kSide + i)] = 0.5F;
  EXPECT_FALSE(judged(outputs, reference, kInt8).passed);
}

// A tile of 6 of 32 rows and columns: 3.5 % of the map; one of 3 is 0.9 %, which this rule does not see.
ComparedRows with_empty_tile(ComparedRows rows, std::int64_t side) {
  for (std::int64_t s = 0; s < rows.samples; ++s)
    for (std::int64_t c = 0; c < rows.positions / kSide; ++c)
      for (std::int64_t y = 8; y < 8 + side; ++y)
        for (std::int64_t x = 8; x < 8 + side; ++x)
          rows.values[static_cast<std::size_t>(((s * rows.positions / kSide + c) * kSide + y) * kSide + x)] =
              -6;
  return rows;
}

TEST(DenseOutput, AWrongTileFailsFromTheShareOfTheQuantileOn) {
  const auto reference = map(kChannels, wave);
  const auto c = judged(with_empty_tile(reference, 6), reference, kInt8);
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(says(c.detail, "0.98 quantile")) << c.detail;
  EXPECT_LT(*judged(with_empty_tile(reference, 3), reference, kInt8).outputs.front().quantile_err, 0.5);
}

TEST(DenseOutput, OneWrongInputIsSeenByTheCentredCosine) {
  const auto reference = map(1, wave);
  auto outputs = reference;
  const auto size = static_cast<std::ptrdiff_t>(kSide * kSide);
  std::copy(reference.values.begin(), reference.values.begin() + size, outputs.values.end() - size);
  EXPECT_TRUE(says(judged(outputs, reference, kInt8).detail, "centred cosine"));
}

TEST(DenseOutput, NoKindIsJudgedByTheMaximumAsBefore) {
  const auto reference = map(1, disc);
  const auto c = judged(quantised_mask(reference), reference, kInt8, kNoKind);
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(says(c.detail, "max error")) << c.detail;
}

TEST(DenseOutput, AConstantReferenceHasAScale) {
  const auto reference = map(1, [](auto, auto, auto, auto) { return 7.0F; });
  const auto c = judged(reference, reference, kInt8);
  EXPECT_TRUE(c.passed) << c.detail;
  EXPECT_EQ(*c.outputs.front().quantile_err, 0);
}

ComparedRows table(Shape sample_shape, std::vector<float> values, std::int64_t samples,
                   const std::string& name, DType dtype = DType::kFloat32) {
  const std::int64_t each = static_cast<std::int64_t>(values.size()) / samples;
  const std::int64_t length = sample_shape.size() > 1 ? sample_shape.back() : each;
  ComparedRows rows{samples, each / length, length, std::move(values), true, 0, each / length, dtype};
  rows.name = name;
  rows.sample_shape = std::move(sample_shape);
  return rows;
}

TEST(IntegerOutput, IsJudgedByTheShareOfEqualValues) {
  std::vector<float> ids;
  for (int i = 0; i < 400; ++i) ids.push_back(static_cast<float>(i % 7));
  const auto reference = table({100}, ids, 4, "ids", DType::kInt64);
  auto outputs = reference;
  for (std::size_t i = 0; i < 20; ++i) outputs.values[i * 20] += 1;  // 5 %
  auto c = judged(outputs, reference, kInt8);
  EXPECT_TRUE(c.passed) << c.detail;
  EXPECT_DOUBLE_EQ(*c.outputs.front().equal_share, 0.95);
  for (std::size_t i = 0; i < 40; ++i) outputs.values[i * 10 + 3] += 1;
  c = judged(outputs, reference, kInt8);
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(says(c.detail, "output 'ids' (integers): 15 % of its values are not equal")) << c.detail;
}

TEST(IntegerOutput, PaddingIsNoAgreement) {
  for (const float padding : {0.0F, -1.0F}) {
    std::vector<float> ids(1200, padding);
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (i % 300 < 10) ids[i] = static_cast<float>(3 + i % 7);
    const auto reference = table({300}, ids, 4, "ids", DType::kInt64);
    auto outputs = reference;
    outputs.values[2] = 99;  // one of forty
    auto c = judged(outputs, reference, kInt8);
    EXPECT_TRUE(c.passed) << c.detail;
    EXPECT_DOUBLE_EQ(*c.outputs.front().equal_share, 0.975);
    for (auto& v : outputs.values) v = v == padding ? v : v + 1;
    EXPECT_FALSE(judged(outputs, reference, kInt8).passed);
    outputs.values.assign(ids.size(), padding);
    EXPECT_FALSE(judged(outputs, reference, kInt8).passed) << "no id was found";
    EXPECT_TRUE(judged(outputs, outputs, kInt8).passed) << "none on either side";
  }
}

TEST(IntegerOutput, OneIdAnInputMayDifferByChance) {
  std::vector<float> ids(64);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<float>(i);
  const auto reference = table({}, ids, 64, "class", DType::kInt64);
  auto outputs = reference;
  for (std::size_t i = 0; i < 7; ++i) outputs.values[i] = 99;  // 10.9 %, and at least 5 %
  EXPECT_TRUE(judged(outputs, reference, kInt8).passed);
  for (std::size_t i = 0; i < 30; ++i) outputs.values[i] = 99;
  EXPECT_FALSE(judged(outputs, reference, kInt8).passed);
}

ComparedRows boxes(double offset, bool reversed) {
  std::vector<float> values;
  for (int s = 0; s < 2; ++s)
    for (int k = 0; k < 10; ++k) {
      const double at = 50.0 * (reversed ? 9 - k : k) + offset;
      for (const double v : {at, at + 5, at + 40, at + 60}) values.push_back(static_cast<float>(v));
    }
  return table({10, 4}, values, 2, "boxes");
}

TEST(Boxes, CountInAnyOrderAndAreMissedWhereTheyMoved) {
  const auto reference = boxes(0, false);
  EXPECT_EQ(kind_of(reference, kAutoKind, "").kind, kBoxes);
  EXPECT_TRUE(judged(boxes(3, true), reference, kInt8).passed);
  const auto c = judged(boxes(25, false), reference, kInt8);
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(says(c.detail, "boxes have no counterpart")) << c.detail;
  EXPECT_FALSE(judged(boxes(3, true), reference, kFp32).passed);
  EXPECT_THROW(kind_of(table({3}, {1, 2, 3}, 1, "y"), kBoxes, "accuracy.answers says so"), Error);
}

// Ten boxes a sample of 300 rows, the others are `padding`; each box is moved by `offset`.
ComparedRows padded_boxes(float padding, double offset, std::int64_t boxes = 10) {
  std::vector<float> values(std::size_t{2} * 300 * 4, padding);
  for (int s = 0; s < 2; ++s)
    for (int k = 0; k < boxes; ++k) {
      const double at = 50.0 * k + 30 * s + offset;
      std::size_t i = static_cast<std::size_t>(s * 300 + k) * 4;
      for (const double v : {at, at + 5, at + 40, at + 60}) values[i++] = static_cast<float>(v);
    }
  return table({300, 4}, values, 2, "boxes");
}

TEST(Boxes, PaddingIsNoAgreement) {
  const pass::Tolerance bf16{0.2, 0.98, 0, 0.4, false};
  for (const float padding : {0.0F, -1.0F}) {
    const auto reference = padded_boxes(padding, 0);
    EXPECT_TRUE(judged(padded_boxes(padding, 3), reference, bf16).passed);
    auto wrong = reference;
    for (auto& v : wrong.values) v = v == padding ? v : -v;
    const auto c = judged(wrong, reference, bf16);
    EXPECT_FALSE(c.passed);
    EXPECT_LT(*c.outputs.front().equal_share, 0.1);
    EXPECT_FALSE(judged(padded_boxes(padding, 0, 8), reference, bf16).passed) << "two of ten are missing";
    EXPECT_FALSE(judged(padded_boxes(padding, 0, 12), reference, bf16).passed) << "two are too many";
    EXPECT_FALSE(judged(padded_boxes(padding, 0, 0), reference, bf16).passed) << "none was found";
    EXPECT_TRUE(judged(padded_boxes(padding, 0, 0), padded_boxes(padding, 0, 0), bf16).passed);
  }
}

// Four coordinates, a score between 0.5 and 0.95, and a class.
ComparedRows scored_boxes() {
  std::vector<float> values;
  for (int k = 0; k < 20; ++k) {
    const auto at = static_cast<float>(50 * (k % 10) + k / 10 * 30);
    const float score = 0.5F + 0.05F * static_cast<float>(k % 10);
    values.insert(values.end(), {at, at + 5, at + 40, at + 60, score, static_cast<float>(k % 3)});
  }
  return table({10, 6}, values, 2, "y");
}

TEST(Boxes, TheNumbersBehindTheCoordinatesAreLookedAt) {
  const auto reference = scored_boxes();
  auto outputs = reference;
  for (std::size_t i = 4; i < outputs.values.size(); i += 6) outputs.values[i] -= 0.1F;
  EXPECT_TRUE(judged(outputs, reference, kInt8, kBoxes).passed);
  for (std::size_t i = 4; i < outputs.values.size(); i += 6) outputs.values[i] -= 0.3F;
  const auto c = judged(outputs, reference, kInt8, kBoxes);
  EXPECT_FALSE(c.passed) << "their scores are wrong";
  EXPECT_TRUE(says(c.detail, "with equal whole numbers behind the coordinates and others within 30 %"))
      << c.detail;
  outputs = reference;
  for (std::size_t i = 5; i < outputs.values.size(); i += 6) outputs.values[i] = 2 - outputs.values[i];
  EXPECT_FALSE(judged(outputs, reference, kInt8, kBoxes).passed) << "their classes are wrong";
}

TEST(Boxes, AreRefusedWithTheirCause) {
  const auto refusal = [](const ComparedRows& rows) {
    return test::reason([&] { kind_of(rows, kBoxes, "accuracy.answers says so"); });
  };
  EXPECT_TRUE(says(refusal(table({3}, {1, 2, 3}, 1, "z")), "'z' has [3]"));
  auto thinned = boxes(0, false);
  thinned.all_positions = 20'000;
  EXPECT_TRUE(says(refusal(thinned), "only 10 of 20000 are kept for 2 inputs")) << refusal(thinned);
  EXPECT_TRUE(says(refusal(thinned), "a smaller --accuracy-samples, or --accuracy-answers dense"));
  thinned.all_positions = 300'000;  // 1.2 million numbers an input
  EXPECT_TRUE(says(refusal(thinned), "only 10 of 300000 are kept, it is so large")) << refusal(thinned);
  EXPECT_FALSE(says(refusal(thinned), "--accuracy-samples")) << refusal(thinned);
}

TEST(Embedding, OnlyItsDirectionCounts) {
  std::vector<float> values(64);
  const CounterRng rng(1, 1);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(rng.normal(i));
  const auto reference = table({16}, values, 4, "sentence_embedding");
  auto outputs = reference;
  for (auto& v : outputs.values) v *= 3;
  EXPECT_TRUE(judged(outputs, reference, kInt8).passed);
  for (auto& v : outputs.values) v = std::abs(v);
  EXPECT_FALSE(judged(outputs, reference, kInt8).passed);
}

TEST(OutputKinds, AreGuessedFromNameTypeAndShape) {
  struct Row {
    Shape shape;
    std::string name;
    DType dtype;
    std::string kind;
  };
  for (const Row& row :
       {Row{{10}, "y", DType::kFloat32, kClasses}, Row{{1, 10}, "y", DType::kFloat32, kClasses},
        Row{{10}, "text_embeds", DType::kFloat32, kEmbedding},
        Row{{4, 8}, "last_hidden_state", DType::kFloat32, kEmbedding},
        Row{{4, 8}, "logits", DType::kFloat32, kTokens}, Row{{4, 8}, "y", DType::kFloat32, kDense},
        Row{{3, 8, 8}, "y", DType::kFloat32, kDense}, Row{{8, 8}, "mask", DType::kBool, kIntegers},
        Row{{}, "count", DType::kInt32, kIntegers}, Row{{}, "loss", DType::kFloat32, kNoKind},
        Row{{5, 4}, "pred_boxes", DType::kFloat32, kBoxes}, Row{{10}, "y", DType::kUInt8, kClasses}}) {
    const auto rows = table(row.shape, std::vector<float>(static_cast<std::size_t>(element_count(row.shape))),
                            1, row.name, row.dtype);
    const auto kind = kind_of(rows, kAutoKind, "");
    EXPECT_EQ(kind.kind, row.kind) << row.name;
    EXPECT_FALSE(kind.because.empty()) << row.name;
  }
}

TEST(SeveralOutputs, TheWorstDecidesAndIsNamed) {
  const auto scores = table({4}, {1, 2, 3, 9, 7, 1, 2, 3, 1, 8, 2, 1}, 3, "scores");
  const auto ids = table({}, {3, 0, 1}, 3, "id", DType::kInt64);
  auto wrong = ids;
  wrong.values = {0, 1, 2};
  const ComparedOutputs reference{{scores, ""}, {ids, ""}};
  const auto c = judge_all({{scores, ""}, {wrong, ""}}, &reference, kFp32, untold());
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(says(c.detail, "output 'id' (integers): 100 %")) << c.detail;
  EXPECT_EQ(c.worst_output, "output 'id'");
  ASSERT_EQ(c.outputs.size(), 2U);
  EXPECT_TRUE(c.outputs[0].passed);
  EXPECT_FALSE(c.outputs[1].passed);
  EXPECT_EQ(*c.top1.value, 1);  // figures are the first one's
  EXPECT_TRUE(judge_all(reference, &reference, kFp32, untold()).passed);
}

TEST(SeveralOutputs, AfterTheLoopEachHasLimitsOfItsOwn) {
  const auto reference = map(1, disc);
  const auto masks = quantised_mask(reference);
  const ComparedOutputs outputs{{reference, ""}, {masks, ""}}, references{{reference, ""}, {reference, ""}};
  const pass::Tolerance dense{0.3, -1, 0, 0.5, false, 0.4};
  EXPECT_TRUE(compare_all(outputs, references, std::vector<pass::Tolerance>{kFp32, dense}, kFp32).passed);
  const auto c = compare_all(outputs, references, std::vector<pass::Tolerance>{dense, kFp32}, kFp32);
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(says(c.detail, "output 'map'")) << c.detail;
}

TEST(SeveralOutputs, OneWithoutAReferenceIsNamed) {
  const auto scores = table({4}, {1, 2, 3, 9, 7, 1, 2, 3}, 2, "scores");
  const ComparedOutputs reference{{scores, ""}};
  const auto c = judge_all({{scores, ""}, {table({}, {3, 0}, 2, "id"), ""}}, &reference, kFp32, untold());
  EXPECT_TRUE(c.passed) << c.detail;
  ASSERT_EQ(c.outputs.size(), 2U);
  EXPECT_EQ(c.outputs[1].judged_by, "");
  EXPECT_TRUE(says(c.outputs[1].because, "no reference"));
}

TEST(SeveralOutputs, FiguresAreThoseOfTheFirstThatHasAReference) {
  const auto scores = table({4}, {1, 2, 3, 9, 7, 1, 2, 3}, 2, "scores");
  auto aux = table({2}, {1, 2, 3, 4}, 2, "aux");
  const ComparedOutputs reference{{scores, ""}};
  const auto c = judge_all({{aux, ""}, {scores, ""}}, &reference, kFp32, untold());
  EXPECT_TRUE(c.checked);
  EXPECT_TRUE(c.passed) << c.detail;
  EXPECT_EQ(*c.max_rel_err, 0);
  EXPECT_EQ(*c.top1.value, 1);
  EXPECT_EQ(c.worst_output, "output 'scores'");
  ASSERT_EQ(c.outputs.size(), 2U);
  EXPECT_TRUE(says(c.outputs[0].because, "no reference"));
  auto wrong = scores;
  wrong.values[3] = 0;
  auto strict = untold();
  strict.outputs_decide_too = true;
  EXPECT_FALSE(judge_all({{aux, ""}, {wrong, ""}}, &reference, kFp32, strict).passed);
  aux.finite = false;  // which is looked at without a reference
  const auto infinite = judge_all({{aux, ""}, {scores, ""}}, &reference, kFp32, untold());
  EXPECT_FALSE(infinite.passed);
  EXPECT_TRUE(says(infinite.detail, "output 'aux' (classes): the output contains NaN")) << infinite.detail;
}

TEST(SeveralOutputs, WithoutAnyReferenceNothingIsChecked) {
  const auto scores = table({4}, {1, 2, 3, 9, 7, 1, 2, 3}, 2, "scores");
  const auto ids = table({}, {3, 0}, 2, "id", DType::kInt64);
  const ComparedOutputs elsewhere{{scores, "its shape changes"}, {ids, "its shape changes"}};
  for (const auto* reference : {static_cast<const ComparedOutputs*>(nullptr), &elsewhere}) {
    const auto c = judge_all({{scores, ""}, {ids, ""}}, reference, kFp32, untold());
    EXPECT_FALSE(c.checked);
    EXPECT_FALSE(c.passed);
    ASSERT_EQ(c.outputs.size(), 2U);
    EXPECT_TRUE(says(c.outputs[0].because, "no reference"));
  }
}

}  // namespace
}  // namespace paceline::workload
