// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/npy.h"
#include "unit/workload/scratch_folder.h"
#include "workload/inference/lanes.h"

namespace paceline::workload {
namespace {

// Three inputs of two numbers, one a request.
class BatchInputs : public testing::Test {
 protected:
  BatchInputs() {
    const auto file = folder_ / "input.npy";
    Tensor tensor({"x", DType::kFloat32, {3, 2}});
    for (int i = 0; i < 6; ++i) tensor.as<float>()[i] = static_cast<float>(i);
    write_npy(file, tensor.view());
    spec_.inference.input_files = {file.string()};
    spec_.model.inputs = {{"x", DType::kFloat32, {1, 2}}};
    spec_.inference.samples = 3;
  }
  static std::vector<float> values(const TensorView& view) {
    const auto* data = static_cast<const float*>(view.data);
    return {data, data + element_count(view.shape)};
  }

  test::ScratchFolder folder_;
  pass::PassSpec spec_;
};

TEST_F(BatchInputs, RequestsLieSideBySide) {
  Inputs source(spec_, 0, 2);
  BatchInput input(source, 2, 3);
  EXPECT_EQ(values(input.gather(2, false).front()), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(input.gather(2, false).front().shape, (Shape{2, 2}));
  EXPECT_EQ(values(input.gather(3, false).front()),
            (std::vector<float>{0, 1, 2, 3, 0, 1}));  // the first again
}

TEST_F(BatchInputs, AFilledUpBatchIsWhole) {
  Inputs source(spec_, 0, 3);
  BatchInput input(source, 3, 3);
  const auto views = input.gather(1, true);
  EXPECT_EQ(views.front().shape, (Shape{3, 2}));
  EXPECT_EQ(values(views.front()), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST_F(BatchInputs, NewDataAreCopiedForEveryInference) {
  Inputs source(spec_, 0, 3);
  BatchInput input(source, 3, 2);
  static_cast<float*>(source.batch(1).front().data)[0] = 9;
  EXPECT_EQ(values(input.gather(2, false).front()), (std::vector<float>{0, 1, 9, 3}));
}

TEST_F(BatchInputs, ASingleRequestIsHandedOverWhereItLies) {
  Inputs source(spec_, 0, 1);
  BatchInput input(source, 1, 1);
  EXPECT_EQ(input.gather(1, false).front().data, source.batch(0).front().data);
}

}  // namespace
}  // namespace paceline::workload
