// SPDX-License-Identifier: MIT
#include "workload/inference/feedback.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::workload {
namespace {

Tensor filled(const char* name, float value, const Shape& shape = {2, 3}) {
  Tensor tensor(TensorSpec{name, DType::kFloat32, shape});
  std::fill_n(tensor.as<float>(), element_count(shape), value);
  return tensor;
}

struct Model {
  Tensor x = filled("x", 1), state = filled("in:0", 2), y = filled("y", 3), next = filled("out:0", 4),
         flat = filled("flat", 5, {6});
  std::vector<TensorView> inputs{x.view(), state.view()}, outputs{y.view(), next.view(), flat.view()};
};

std::string refusal(const std::vector<std::string>& pairs) {
  Model model;
  try {
    const Feedback feedback(pairs, model.inputs, model.outputs);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    return error.what();
  }
  return {};
}

TEST(Feedback, AnOutputIsTheInputOfTheNextInference) {
  Model model;
  Feedback feedback({"out:0:in:0"}, model.inputs, model.outputs);
  EXPECT_FALSE(feedback.empty());
  const auto next = feedback.next(model.outputs);
  EXPECT_EQ(static_cast<const float*>(next[1].data)[5], 4);
  EXPECT_EQ(static_cast<const float*>(next[0].data)[5], 1);
  EXPECT_EQ(model.state.as<float>()[5], 2)
      << "the first inputs stay as they are: answers are checked for them";
  model.next.as<float>()[5] = 7;
  EXPECT_EQ(static_cast<const float*>(feedback.next(model.outputs)[1].data)[5], 7);
}

TEST(Feedback, WithoutPairsNothingIsFed) {
  Model model;
  EXPECT_TRUE(Feedback({}, model.inputs, {}).empty());
}

TEST(Feedback, NamesShapesThatDoNotFit) {
  EXPECT_EQ(refusal({"state:x"}),
            "feedback 'state:x': write OUTPUT:INPUT; the outputs are y, out:0, flat, the inputs x, in:0");
  EXPECT_EQ(refusal({"flat:x"}), "feedback 'flat:x': the output is float32 [6], the input float32 [2,3]");
  EXPECT_EQ(refusal({"y:x", "out:0:x"}), "feedback 'out:0:x': this input is fed already");
}

}  // namespace
}  // namespace paceline::workload
