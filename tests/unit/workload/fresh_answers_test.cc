// SPDX-License-Identifier: MIT
#include "workload/inference/fresh_answers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <type_traits>

#include "base/error.h"
#include "base/npy.h"
#include "support/words.h"
#include "workload/inference/check_samples.h"

namespace paceline::workload {
namespace {

namespace fs = std::filesystem;
using test::says;

// Copies its input. One that keeps answers works only on inputs that it has not seen, and only on the first
// `worked_on` of them.
class CopyEngine : public plugin::Engine {
 public:
  explicit CopyEngine(bool keeps_answers, std::size_t worked_on = SIZE_MAX)
      : keeps_answers_(keeps_answers), worked_on_(worked_on) {}
  [[nodiscard]] plugin::EngineInfo info() const override { return {}; }
  void load(const plugin::ModelSpec&, const plugin::EngineSettings&) override {}
  void bind(plugin::Slot, std::span<const TensorView> inputs) override { input_ = inputs.front(); }
  void enqueue(plugin::Slot) override {
    const auto bytes = content();
    if (!keeps_answers_ || (seen_.insert(bytes).second && seen_.size() <= worked_on_))
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    answer(bytes);
  }
  std::span<const TensorView> synchronize(plugin::Slot) override { return {&view_, 1}; }
  plugin::ReadBack read_back(plugin::Slot) override { return {}; }

 protected:
  void answer(const std::string& bytes) {
    answered_ = bytes;
    output_ = Tensor({"y", input_.dtype, input_.shape});
    std::memcpy(output_.data(), bytes.data(), bytes.size());
    view_ = output_.view();
  }
  [[nodiscard]] const std::string& answered() const { return answered_; }
  [[nodiscard]] std::size_t inputs_seen() const { return seen_.size(); }
  [[nodiscard]] bool is_new() const { return !seen_.contains(content()); }

 private:
  [[nodiscard]] std::string content() const {
    return {static_cast<const char*>(input_.data), input_.size_bytes()};
  }
  bool keeps_answers_;
  std::size_t worked_on_;
  std::set<std::string> seen_;
  std::string answered_;
  TensorView input_, view_;
  Tensor output_;
};

// Keeps answers, and meets what comes after the first `samples` inputs at once: with the answer before,
// without one, or with an error.
class EvadesCopies : public CopyEngine {
 public:
  enum class By { kOldAnswer, kNoAnswer, kError };
  EvadesCopies(std::size_t samples, By by) : CopyEngine(true, samples), samples_(samples), by_(by) {}
  void enqueue(plugin::Slot slot) override {
    if (inputs_seen() < samples_ || !is_new()) return CopyEngine::enqueue(slot);
    if (by_ == By::kError) throw Error(ErrorCode::kData, "a value that nobody gave it");
    if (by_ == By::kOldAnswer) answer(answered());
  }

 private:
  std::size_t samples_;
  By by_;
};

// Negates its input in two outputs. The second can be written by the first inference after a bind alone, or
// be weights that no inference writes.
class TwoOutputs : public plugin::Engine {
 public:
  enum class Second { kComputed, kKept, kConstant };
  explicit TwoOutputs(Second second) : second_(second) {}
  [[nodiscard]] plugin::EngineInfo info() const override { return {}; }
  void load(const plugin::ModelSpec&, const plugin::EngineSettings&) override {}
  void bind(plugin::Slot, std::span<const TensorView> inputs) override {
    input_ = inputs.front();
    outputs_[0] = Tensor({"a", input_.dtype, input_.shape});
    if (second_ != Second::kConstant || outputs_[1].size_bytes() == 0)
      outputs_[1] = Tensor({"b", input_.dtype, input_.shape});
    computed_ = second_ == Second::kConstant;
    views_ = {outputs_[0].view(), outputs_[1].view()};
  }
  void enqueue(plugin::Slot) override {
    negate(outputs_[0]);
    if (computed_) return;
    negate(outputs_[1]);
    computed_ = second_ == Second::kKept;
  }
  std::span<const TensorView> synchronize(plugin::Slot) override { return views_; }
  plugin::ReadBack read_back(plugin::Slot) override { return {}; }

 private:
  void negate(Tensor& output) {
    const auto* x = static_cast<const float*>(input_.data);
    std::transform(x, x + element_count(input_.shape), output.as<float>(), std::negate<>());
  }
  Second second_;
  bool computed_ = false;
  TensorView input_;
  std::array<Tensor, 2> outputs_;
  std::array<TensorView, 2> views_;
};

// Negates its copy of the input, and hands on that copy too, or the first number of it. What a reader does
// with the second output's memory shows in the first.
class HandsOnItsCopy : public plugin::Engine {
 public:
  enum class Part { kWhole, kFirst };
  explicit HandsOnItsCopy(Part part) : part_(part) {}
  [[nodiscard]] plugin::EngineInfo info() const override { return {}; }
  void load(const plugin::ModelSpec&, const plugin::EngineSettings&) override {}
  void bind(plugin::Slot, std::span<const TensorView> inputs) override {
    copy_ = Tensor({"b", inputs.front().dtype, inputs.front().shape});
    std::memcpy(copy_.data(), inputs.front().data, copy_.size_bytes());
    negated_ = Tensor({"a", inputs.front().dtype, inputs.front().shape});
    views_ = {negated_.view(), copy_.view()};
    if (part_ == Part::kFirst) views_[1].shape.back() = 1;
  }
  void enqueue(plugin::Slot) override {
    const auto* x = copy_.as<float>();
    std::transform(x, x + element_count(copy_.spec().shape), negated_.as<float>(), std::negate<>());
    if (std::isnan(x[0])) std::fill_n(negated_.as<float>(), 2, x[0]);  // its very bits, as sums have them
  }
  std::span<const TensorView> synchronize(plugin::Slot) override { return views_; }
  plugin::ReadBack read_back(plugin::Slot) override { return {}; }

 private:
  Part part_;
  Tensor copy_, negated_;
  std::array<TensorView, 2> views_;
};

class FreshAnswers : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(::testing::TempDir()) /
        (std::string("fresh_answers-") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  template <typename T = float>
  std::string write(const std::string& name, std::int64_t samples, Shape shape) {
    std::vector<T> values;
    for (std::int64_t i = 0; i < 2 * samples; ++i) values.push_back(static_cast<T>(i));
    const auto dtype = std::is_same_v<T, float> ? DType::kFloat32 : DType::kInt32;
    write_npy(folder_ / name, {"x", values.data(), dtype, std::move(shape), {}, {}});
    return (folder_ / name).string();
  }
  // Verifies after a timed loop whose first batch took `typical_ns`.
  template <typename T = float>
  result::Correctness verified(CopyEngine& engine, std::int64_t samples, double typical_ns) {
    pass::PassSpec spec;
    spec.inference.samples = samples;
    spec.inference.input_files = {write<T>("in.npy", samples, {samples, 2})};
    spec.inference.reference_file = write("ref.npy", samples, {samples, 1, 2});
    spec.inference.tolerance = {1e-6, -1};
    const Inputs inputs(spec, 0, 1);
    const auto batch = inputs.batch(0);
    return verify_answers(spec, engine, {infer(engine, batch), batch, typical_ns});
  }
  // The reference of all outputs comes from an engine of the same kind that computes where it can.
  template <typename Engine, typename Kind>
  result::Correctness verified_outputs(Kind kind, Kind reference) {
    pass::PassSpec spec;
    spec.inference.samples = 3;
    spec.inference.input_files = {write("in.npy", 3, {3, 2})};
    spec.inference.reference_file = (folder_ / "ref.npy").string();
    spec.inference.tolerance = {1e-6, -1};
    Engine honest(reference);
    write_reference(spec.inference.reference_file, run_samples(spec, honest).outputs);
    Engine engine(kind);
    const Inputs inputs(spec, 0, 1);
    const auto batch = inputs.batch(0);
    return verify_answers(spec, engine, {infer(engine, batch), batch, kComputedNs});
  }
  static constexpr double kRepeatedNs = 1e3, kComputedNs = 3e6;
  fs::path folder_;
};

TEST_F(FreshAnswers, TwoOtherInputsAreEnoughToSeeThatAnswersAreKept) {
  for (const std::int64_t samples : {3, 4, 5, 9}) {
    CopyEngine engine(true);
    const auto c = verified(engine, samples, kRepeatedNs);
    EXPECT_FALSE(c.passed) << samples;
    EXPECT_TRUE(says(c.detail, "repeats answers instead of computing them")) << samples << ": " << c.detail;
  }
}

// As on a busy machine: the timed input and the first two others are slow, the third is as fast as known
// ones.
TEST_F(FreshAnswers, TheLastOfThreeOtherInputsCanClearAnEngine) {
  CopyEngine engine(true, 3);
  const auto c = verified(engine, 4, kRepeatedNs);
  EXPECT_TRUE(c.passed) << c.detail;
}

// Two samples are one round. Scaled copies of them are the second one and can clear an engine as well.
TEST_F(FreshAnswers, ScaledCopiesOfTwoOtherInputsCanClearAnEngine) {
  CopyEngine engine(true, 3);
  const auto c = verified(engine, 3, kRepeatedNs);
  EXPECT_TRUE(c.passed) << c.detail;
}

// Five samples leave two others for each round, which the copies of the second one must not outweigh.
TEST_F(FreshAnswers, ACopyWithoutAnAnswerOfItsOwnClearsNobody) {
  using By = EvadesCopies::By;
  for (const auto by : {By::kOldAnswer, By::kNoAnswer, By::kError}) {
    EvadesCopies engine(5, by);
    const auto c = verified(engine, 5, kRepeatedNs);
    EXPECT_FALSE(c.passed);
    EXPECT_TRUE(says(c.detail, "repeats answers")) << c.detail;
  }
}

TEST_F(FreshAnswers, IntegersAreNotScaledSoThatFewOfThemProveNothing) {
  for (const std::int64_t samples : {3, 4, 5, 9}) {
    CopyEngine engine(true);
    const auto c = verified<std::int32_t>(engine, samples, kRepeatedNs);
    EXPECT_EQ(c.passed, samples < 5) << samples;
    EXPECT_EQ(says(c.detail, "repeats answers"), samples >= 5) << samples << ": " << c.detail;
  }
}

TEST_F(FreshAnswers, AnEngineThatComputesPasses) {
  for (const std::int64_t samples : {1, 2, 3, 9}) {
    CopyEngine engine(false);
    const auto c = verified(engine, samples, kComputedNs);
    EXPECT_TRUE(c.passed) << samples << ": " << c.detail;
  }
}

TEST_F(FreshAnswers, AnOutputAfterTheFirstMustBeComputedToo) {
  using Second = TwoOutputs::Second;
  const auto kept = verified_outputs<TwoOutputs>(Second::kKept, Second::kComputed);
  EXPECT_FALSE(kept.passed);
  EXPECT_TRUE(says(kept.detail, "did not compute when the same inputs were asked for again")) << kept.detail;
  for (const auto second : {Second::kComputed, Second::kConstant}) {
    const auto honest = verified_outputs<TwoOutputs>(second, second);
    EXPECT_TRUE(honest.passed) << honest.detail;
  }
}

TEST_F(FreshAnswers, AnInputThatIsHandedOnExcusesOutputsComputedFromIt) {
  using Part = HandsOnItsCopy::Part;
  for (const auto part : {Part::kWhole, Part::kFirst}) {
    const auto honest = verified_outputs<HandsOnItsCopy>(part, part);
    EXPECT_TRUE(honest.passed) << honest.detail;
  }
}

TEST_F(FreshAnswers, ASingleRunProvesNothing) {
  CopyEngine engine(true);
  EXPECT_TRUE(verified(engine, 2, kRepeatedNs).passed);
}

}  // namespace
}  // namespace paceline::workload
