// SPDX-License-Identifier: MIT
#include "workload/inference/batched_inputs.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <filesystem>
#include <numeric>

#include "base/npy.h"
#include "pass/input_layout.h"
#include "scratch_folder.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {
namespace {

Tensor counted(const Shape& shape) {
  Tensor tensor({"x", DType::kFloat32, shape});
  std::iota(tensor.as<float>(), tensor.as<float>() + element_count(shape), 0.0F);
  return tensor;
}
std::vector<float> values(const TensorView& view) {
  const auto* data = static_cast<const float*>(view.data);
  return {data, data + element_count(view.shape)};
}

TEST(BatchedInputs, StoredSamplesComeBackAsTheModelHasThem) {
  auto model = counted({2, 4, 3});  // state of two layers, four samples
  auto stored = pass::to_stored(model, 1);
  EXPECT_EQ(stored.spec().shape, (Shape{4, 2, 3}));
  std::vector<Tensor> tensors{std::move(stored)};
  const BatchedInputs halves(tensors, {1}, 2);
  EXPECT_EQ(halves.views(0).at(0).shape, (Shape{2, 2, 3}));
  EXPECT_EQ(values(halves.views(0).at(0)), (std::vector<float>{0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17}));
  EXPECT_EQ(values(halves.views(1).at(0)), (std::vector<float>{6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23}));
  const BatchedInputs whole(tensors, {1}, 4);
  EXPECT_EQ(values(whole.views(0).at(0)), values(model.view()));
}

// Not what the process keeps of freed memory, which depends on the tests before.
std::int64_t allocated_bytes() {
  const auto heap = ::mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

TEST(BatchedInputs, InputsAreHeldOnceWhereverTheBatchIs) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "freed memory stays with the sanitizer";
#endif
  const test::ScratchFolder folder;
  const auto file = folder.path() / "state.npy";
  const Shape stored{64, 2, 1 << 17};
  {
    auto tensor = counted(stored);
    write_npy(file, tensor.view());
  }
  pass::PassSpec spec;
  spec.inference.samples = 64;
  spec.batch = 64;
  spec.inference.input_files = {file.string()};
  spec.inference.batch_dimensions = {1};
  spec.model.inputs = {{"state", DType::kFloat32, {2, 64, 1 << 17}}};
  const auto before = allocated_bytes();
  const Inputs inputs(spec, 0, 1);
  const auto held = allocated_bytes() - before;
  const auto bytes = static_cast<std::int64_t>(inputs.batch(0).front().size_bytes());
  EXPECT_GT(held, bytes / 2);
  EXPECT_LT(held, bytes + bytes / 2);
}

TEST(BatchedInputs, ABatchBeginsWithAnySample) {
  const test::ScratchFolder folder;
  const auto file = folder.path() / "x.npy";
  auto tensor = counted({5, 2});
  write_npy(file, tensor.view());
  pass::PassSpec spec;
  spec.inference.samples = 5;
  spec.batch = 2;
  spec.inference.input_files = {file.string()};
  spec.model.inputs = {{"x", DType::kFloat32, {2, 2}}};
  const Inputs inputs(spec, FirstSample{3});
  EXPECT_EQ(values(inputs.batch(0).front()), (std::vector<float>{6, 7, 8, 9}));
}

TEST(BatchedInputs, AnInputWithoutABatchIsTheSameForAll) {
  std::vector<Tensor> tensors;
  tensors.push_back(counted({4, 3}));
  tensors.push_back(pass::to_stored(counted({5}), pass::kNoBatch));
  tensors.push_back(pass::to_stored(counted({}), pass::kNoBatch));
  const BatchedInputs batches(tensors, {0, pass::kNoBatch, pass::kNoBatch}, 2);
  EXPECT_EQ(values(batches.views(1).at(0)), (std::vector<float>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(batches.views(1).at(1).shape, (Shape{5}));
  EXPECT_EQ(batches.views(0).at(1).data, batches.views(1).at(1).data);
  EXPECT_EQ(batches.views(1).at(2).shape, Shape{});
}

TEST(BatchedInputs, HashesTellSamplesApartWhereverTheBatchIs) {
  std::vector<Tensor> tensors;
  tensors.push_back(pass::to_stored(counted({2, 4, 1}), 1));
  auto& stored = tensors.front();
  stored.as<float>()[6] = stored.as<float>()[2];  // the fourth sample becomes the second
  stored.as<float>()[7] = stored.as<float>()[3];
  const BatchedInputs batches(tensors, {1}, 2);
  EXPECT_EQ(batches.sample_hash(0, 1), batches.sample_hash(1, 1));
  EXPECT_NE(batches.sample_hash(0, 0), batches.sample_hash(0, 1));
}

}  // namespace
}  // namespace paceline::workload
