// SPDX-License-Identifier: MIT
#include "pass/input_layout.h"

#include <gtest/gtest.h>

#include <numeric>

namespace paceline::pass {
namespace {

TEST(InputLayout, SamplesLieInFront) {
  EXPECT_EQ(stored_shape({8, 3, 4}, 0, 64), (Shape{64, 3, 4}));
  EXPECT_EQ(stored_shape({2, 8, 128}, 1, 64), (Shape{64, 2, 128}));
  EXPECT_EQ(stored_shape({20000, 512}, kNoBatch, 64), (Shape{1, 20000, 512}));
  EXPECT_EQ(stored_shape({}, kNoBatch, 64), (Shape{1}));
}

std::vector<float> round_trip(const Shape& shape, std::int64_t batch_dimension) {
  Tensor model({"x", DType::kFloat32, shape});
  std::iota(model.as<float>(), model.as<float>() + element_count(shape), 0.0F);
  const auto stored = to_stored(model, batch_dimension);
  const auto back = to_model(stored, batch_dimension);
  EXPECT_EQ(back.spec().shape, shape);
  return {back.as<float>(), back.as<float>() + element_count(shape)};
}

TEST(InputLayout, StoredSamplesBecomeTheModelsAgain) {
  std::vector<float> counted(24);
  std::iota(counted.begin(), counted.end(), 0.0F);
  for (const std::int64_t dimension : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, kNoBatch})
    EXPECT_EQ(round_trip({2, 4, 3}, dimension), counted) << dimension;
}

TEST(InputLayout, FilesAreNumbered) {
  EXPECT_EQ(input_file_names("a/b", 2), (std::vector<std::string>{"a/b-0.npy", "a/b-1.npy"}));
}

}  // namespace
}  // namespace paceline::pass
