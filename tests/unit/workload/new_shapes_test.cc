// SPDX-License-Identifier: MIT
#include "workload/inference/new_shapes.h"

#include <gtest/gtest.h>

#include <numeric>

namespace paceline::workload {
namespace {

std::vector<std::int32_t> corner(const Shape& shape, const Shape& sizes) {
  Tensor tensor({"x", DType::kInt32, shape});
  std::iota(tensor.as<std::int32_t>(), tensor.as<std::int32_t>() + element_count(shape), 0);
  const auto found = corner_of(tensor.view(), sizes);
  EXPECT_EQ(found.spec().shape, sizes);
  EXPECT_EQ(found.spec().name, "x");
  return {found.as<std::int32_t>(), found.as<std::int32_t>() + element_count(sizes)};
}

TEST(NewShapes, TakeTheFirstElementsOfEachDimension) {
  EXPECT_EQ(corner({2, 3}, {1, 3}), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(corner({2, 3}, {2, 2}), (std::vector<std::int32_t>{0, 1, 3, 4}));
  EXPECT_EQ(corner({2, 2, 3}, {2, 1, 2}), (std::vector<std::int32_t>{0, 1, 6, 7}));
  EXPECT_EQ(corner({4}, {2}), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(corner({}, {}), (std::vector<std::int32_t>{0}));
}

}  // namespace
}  // namespace paceline::workload
