// SPDX-License-Identifier: MIT
#include "workload/inference/unseen_inputs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/half.h"
#include "base/npy.h"
#include "pass/input_layout.h"
#include "unit/workload/scratch_folder.h"

namespace paceline::workload {
namespace {

class UnseenInputsTest : public ::testing::Test {
 protected:
  // Adds an input whose stored values are 1, 2, 3, …
  template <typename T>
  void add(DType dtype, Shape stored, std::int64_t batch_dimension = 0) {
    std::vector<T> values(static_cast<std::size_t>(element_count(stored)));
    std::iota(values.begin(), values.end(), T{1});
    if (dtype == DType::kFloat16)
      for (auto& value : values) value = static_cast<T>(float_to_half(static_cast<float>(value)));
    const auto file = folder_.path() / (std::to_string(spec_.inference.input_files.size()) + ".npy");
    write_npy(file, {"x", values.data(), dtype, std::move(stored), {}, {}});
    spec_.inference.input_files.push_back(file.string());
    spec_.inference.batch_dimensions.push_back(batch_dimension);
  }
  UnseenInputs unseen(std::int64_t samples, std::int64_t batch = 1) {
    spec_.inference.samples = samples;
    spec_.batch = batch;
    return UnseenInputs(spec_);
  }
  test::ScratchFolder folder_;
  pass::PassSpec spec_;
};

template <typename T>
std::vector<T> values_of(const TensorView& view) {
  const auto* data = static_cast<const T*>(view.data);
  return {data, data + element_count(view.shape)};
}

TEST_F(UnseenInputsTest, SamplesComeDownwardsFromTheLastWholeBatch) {
  add<float>(DType::kFloat32, {6, 1});
  const auto inputs = unseen(6, 2);
  ASSERT_EQ(inputs.of_samples(), 4);
  const auto first = inputs.batch(0), second = inputs.batch(1);
  EXPECT_EQ(values_of<float>(first.views[0]), (std::vector<float>{5, 6}));
  EXPECT_EQ(first.answered->index, 4);
  EXPECT_EQ(values_of<float>(second.views[0]), (std::vector<float>{4, 5}));
  EXPECT_FALSE(second.answered) << "the reference has no such batch";
  EXPECT_TRUE(second.scaled.empty());
}

TEST_F(UnseenInputsTest, CopiesAreScaledInEveryFloatingPointType) {
  add<float>(DType::kFloat32, {3, 2});
  add<double>(DType::kFloat64, {3, 2});
  add<std::uint16_t>(DType::kFloat16, {3, 2});
  const auto inputs = unseen(3);
  ASSERT_TRUE(inputs.can_scale());
  for (const int k : {1, 2, 18}) {
    const auto copy = inputs.batch(inputs.of_samples() + k - 1);
    const double by = 1 - k / 128.0;
    EXPECT_FALSE(copy.answered);
    EXPECT_EQ(values_of<float>(copy.views[0])[1], static_cast<float>(6 * by));
    EXPECT_EQ(values_of<double>(copy.views[1])[1], 6 * by);
    EXPECT_EQ(half_to_float(values_of<std::uint16_t>(copy.views[2])[1]), static_cast<float>(6 * by));
  }
}

TEST_F(UnseenInputsTest, InputsThatAllSamplesShareStayAsTheyAre) {
  add<float>(DType::kFloat32, {3, 2});
  add<float>(DType::kFloat32, {1, 2}, pass::kNoBatch);
  const auto inputs = unseen(3);
  ASSERT_TRUE(inputs.can_scale());
  EXPECT_EQ(values_of<float>(inputs.batch(2).views[1]), (std::vector<float>{1, 2}));
}

TEST_F(UnseenInputsTest, IndicesBesideValuesAllowNoCopies) {
  add<float>(DType::kFloat32, {3, 2});
  EXPECT_TRUE(unseen(3).can_scale());
  add<std::int64_t>(DType::kInt64, {3, 2});
  EXPECT_FALSE(unseen(3).can_scale());
}

TEST_F(UnseenInputsTest, EmptyInputsAllowNoCopies) {
  add<float>(DType::kFloat32, {3, 0});
  EXPECT_FALSE(unseen(3).can_scale());
}

}  // namespace
}  // namespace paceline::workload
