// SPDX-License-Identifier: MIT
#include "workload/inference/check_samples.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "workload/inference/gate/expected.h"

namespace paceline::workload {
namespace {

namespace fs = std::filesystem;

// Returns its input, and remembers which batches it saw.
class EchoEngine : public plugin::Engine {
 public:
  [[nodiscard]] plugin::EngineInfo info() const override { return {}; }
  void load(const plugin::ModelSpec&, const plugin::EngineSettings&) override {}
  void bind(plugin::Slot, std::span<const TensorView> inputs) override { view_ = inputs.front(); }
  void enqueue(plugin::Slot) override { ++calls; }
  std::span<const TensorView> synchronize(plugin::Slot) override { return {&view_, 1}; }
  plugin::ReadBack read_back(plugin::Slot) override { return {}; }
  int calls = 0;

 private:
  TensorView view_;
};

class CheckSamples : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, std::vector<float> values, Shape shape) {
    const TensorView view{"x", values.data(), DType::kFloat32, std::move(shape), {}, {}};
    write_npy(folder_ / name, view);
    return (folder_ / name).string();
  }
  // Rows of three class scores; row i answers i % 3.
  pass::PassSpec pass(const std::vector<int>& rows) {
    std::vector<float> values;
    for (const int row : rows)
      for (int i = 0; i < 3; ++i) values.push_back(row % 3 == i ? 10.0F + static_cast<float>(row) : 0.0F);
    pass::PassSpec spec;
    spec.inference.samples = static_cast<std::int64_t>(rows.size());
    spec.batch = 2;
    spec.inference.input_files = {write("in.npy", values, {spec.inference.samples, 3})};
    spec.inference.reference_file = write("ref.npy", values, {spec.inference.samples, 1, 3});
    spec.inference.tolerance = {1e9, -1};
    spec.inference.accuracy.answers = "auto";
    spec.inference.accuracy.trained = true;
    return spec;
  }
  static result::Correctness checked(const pass::PassSpec& spec) {
    EchoEngine engine;
    const auto run = run_samples(spec, engine);
    EXPECT_EQ(engine.calls, spec.inference.samples / spec.batch);
    return check_samples(spec, run);
  }
  fs::path folder_;
};

TEST_F(CheckSamples, EveryBatchRuns) {
  const auto c = checked(pass({0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(c.passed);
  EXPECT_EQ(c.samples, 6);
  EXPECT_EQ(c.answers, "classes");
  EXPECT_EQ(*c.reference_answers, 3);
}

TEST_F(CheckSamples, OnlyASlowReferenceStopsEarly) {
  auto spec = pass({0, 1, 2, 3, 4, 5});
  spec.inference.accuracy.least_samples = 3;
  const auto calls = [&](double patience_ns) {
    EchoEngine engine;
    (void)run_samples(spec, engine, patience_ns);
    return engine.calls;
  };
  EXPECT_EQ(calls(0), 3) << "the check runs what the reference ran";
  spec.kind = pass::PassKind::kReference;
  EXPECT_EQ(calls(0), 2) << "two batches of two are the first beyond three";
  EXPECT_EQ(calls(1e18), 3);
  spec.inference.accuracy.least_samples = 0;
  EXPECT_EQ(calls(0), 3);
}

TEST_F(CheckSamples, EveryGivenInputRunsOnce) {
  std::vector<float> values(30, 1.0F);
  values[25] = std::numeric_limits<float>::quiet_NaN();  // of the ninth input
  auto spec = pass({0, 1, 2, 3});
  spec.inference.input_files = {write("ten.npy", values, {10, 3})};
  spec.inference.accuracy.samples_given = 10;
  EchoEngine engine;
  const auto others = run_other_inputs(spec, engine);
  EXPECT_EQ(others.not_finite, 8);
  auto c = checked(pass({0, 1, 2, 3}));
  add_other_inputs(c, spec.inference, others);
  EXPECT_EQ(c.verdict, answer::Verdict::kNo);
  EXPECT_NE(c.detail.find("NaN or infinity for input 9 of 10"), std::string::npos) << c.detail;
  EXPECT_EQ(*c.samples_given, 10);
  values[25] = 0;
  spec.inference.input_files = {write("ten.npy", values, {10, 3})};
  const auto finite = run_other_inputs(spec, engine);
  EXPECT_EQ(finite.ran, 6);
  EXPECT_LT(finite.not_finite, 0);
  EXPECT_EQ(run_other_inputs(spec, engine, -1).ran, 0) << "no patience";
}

// The engine's answers are its inputs; the file's own unoptimised run says something else.
TEST_F(CheckSamples, AnEngineStaysWithinTwoPercentOfTheFilesOwnRun) {
  const auto verdict = [&](float factor) {
    auto spec = pass({0, 1, 2, 3});
    auto own = to_rows(read_npy(spec.inference.reference_file));
    for (auto& v : own.values) v *= factor;
    spec.inference.accuracy.engine_file = write("own.npy", own.values, {4, 1, 3});
    spec.inference.accuracy.engine_name = "its own run";
    return checked(spec);
  };
  const auto near = verdict(1.01F), c = verdict(1.1F);
  EXPECT_EQ(near.verdict, answer::Verdict::kYes);
  EXPECT_EQ(c.verdict, answer::Verdict::kNo);
  EXPECT_FALSE(near.engine_strays);
  EXPECT_TRUE(c.engine_strays);
  EXPECT_NE(c.detail.find("more than 2 % of what depends on the input"), std::string::npos) << c.detail;
}

TEST_F(CheckSamples, OutputsWithoutAReferenceKeepTheReason) {
  auto spec = pass({0, 1, 2, 3});
  spec.inference.reference_file.clear(), spec.inference.reference_name.clear();
  spec.inference.accuracy.unchecked_because = "nobody makes one";
  const auto c = checked(spec);
  EXPECT_FALSE(c.checked);
  EXPECT_EQ(c.unchecked_because, "nobody makes one");
  EXPECT_EQ(c.reference, "none: nobody makes one");
  EXPECT_EQ(c.verdict_because, c.reference);
}

TEST_F(CheckSamples, RepeatedInputsAreNoFurtherObservations) {
  const auto c = checked(pass({0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(c.samples, 3);
}

TEST_F(CheckSamples, SixtyFourTimesTheSameInputClaimsNothing) {
  auto spec = pass(std::vector<int>(64, 1));
  spec.inference.accuracy.claim = 0.05;  // 64 distinct inputs would carry it
  spec.inference.accuracy.samples_asked = 64;
  const auto c = checked(spec);
  EXPECT_EQ(c.samples, 1);
  EXPECT_EQ(c.claim.verdict, answer::Verdict::kCannotSay);
}

TEST_F(CheckSamples, LabelsGoWithTheirInputs) {
  auto spec = pass({0, 0, 1, 2});
  spec.inference.accuracy.labels = {0, 0, 1, 0};
  const auto c = checked(spec);
  EXPECT_EQ(c.samples, 3);
  EXPECT_NEAR(*c.labelled.top1.value, 2.0 / 3, 1e-12);
}

TEST_F(CheckSamples, RightAnswersAreKeptWithWhatTheyAnswer) {
  auto spec = pass({0, 0, 1, 2});
  spec.inference.accuracy.labels = {0, 0, 1, 0};
  const auto c = checked(spec);
  const auto right = result::read_answers(c.labelled.answers, c.samples);
  ASSERT_TRUE(right);
  EXPECT_EQ(*right, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(c.labelled.answers.inputs_sha256.size(), 64U);
  EXPECT_EQ(checked(spec).labelled.answers.inputs_sha256, c.labelled.answers.inputs_sha256);
  spec.inference.accuracy.labels[3] = 2;
  EXPECT_NE(checked(spec).labelled.answers.inputs_sha256, c.labelled.answers.inputs_sha256)
      << "another label";
  auto other = pass({0, 0, 1, 5});
  other.inference.accuracy.labels = {0, 0, 1, 0};
  EXPECT_NE(checked(other).labelled.answers.inputs_sha256, c.labelled.answers.inputs_sha256)
      << "another input";
}

TEST_F(CheckSamples, ExpectedOutputsOfAnotherShapeAreTheFilesMistake) {
  auto spec = pass({0, 1, 2, 3});
  spec.inference.accuracy.expected_file = "mine.npz";
  spec.inference.reference_file = write("other.npy", std::vector<float>(8), {4, 1, 2});
  try {
    checked(spec);
    FAIL() << "two class scores instead of three were accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kData);
    EXPECT_NE(std::string(e.what()).find("'mine.npz' contains [4, 1, 2]"), std::string::npos) << e.what();
  }
}

TEST_F(CheckSamples, ExpectedOutputsAreComparedWithTheOutputOfTheirName) {
  auto spec = pass({0, 1, 2, 3});
  spec.inference.accuracy.expected_file = "mine.npz";
  auto scores = to_rows(read_npy(spec.inference.reference_file));
  scores.name = "scores";
  ComparedRows aux{4, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}, true, 0, 1, DType::kFloat32, "aux"};
  spec.inference.reference_file = (folder_ / "named.npy").string();
  write_reference(spec.inference.reference_file, {{scores, ""}});
  EchoEngine engine;
  auto run = run_samples(spec, engine);
  run.outputs = {{aux, ""}, {scores, ""}};
  const auto c = check_samples(spec, run);
  EXPECT_TRUE(c.checked);
  EXPECT_TRUE(c.passed) << c.detail;
}

TEST_F(CheckSamples, ExpectedOutputsMustBeEnough) {
  const auto file = write("out.npy", std::vector<float>(20, 1.0F), {10, 2});
  EXPECT_EQ(read_expected_outputs(file, 10, 10).samples, 10);
  EXPECT_EQ(read_expected_outputs(file, 4, 4).samples, 4);
  EXPECT_THROW(read_expected_outputs(file, 11, 11), Error);
  EXPECT_THROW(read_expected_outputs("logits:" + file, 10, 10), Error);
  EXPECT_EQ(read_expected_outputs("out:" + file, 10, 10).samples, 10);
}

}  // namespace
}  // namespace paceline::workload
