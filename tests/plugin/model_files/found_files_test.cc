// SPDX-License-Identifier: MIT
// Files that nobody here wrote, against what the engine's own Python answered (python_outputs.py).
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/npy.h"
#include "base/text.h"
#include "plugin/model_files/driver.h"

namespace paceline::model_files_test {
namespace {
namespace fs = std::filesystem;

std::vector<Tensor> numbered(const fs::path& folder, const std::string& kind) {
  std::vector<Tensor> tensors;
  for (int i = 0; fs::exists(folder / (kind + std::to_string(i) + ".npy")); ++i)
    tensors.push_back(read_npy(folder / (kind + std::to_string(i) + ".npy")));
  return tensors;
}

std::vector<Tensor> inputs_of(const fs::path& folder) {
  auto tensors = numbered(folder, "input");
  const auto names = split(trim(read_file(folder / "inputs")), '\n');
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].rename(names.at(i));
  return tensors;
}

std::vector<float> as_floats(const Tensor& tensor) {
  const auto count = element_count(tensor.spec().shape);
  if (tensor.spec().dtype == DType::kFloat32) return {tensor.as<float>(), tensor.as<float>() + count};
  return {tensor.as<std::int64_t>(), tensor.as<std::int64_t>() + count};
}

void expect_python_outputs(const fs::path& folder) {
  auto data = inputs_of(folder);
  const auto engine = load(read_file(folder / "model"), specs_of(data), {"fp32", 2});
  bind(*engine, data);
  const auto expected = numbered(folder, "output");
  ASSERT_FALSE(expected.empty());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE(relative_error(run(*engine, i), as_floats(expected[i])), 1e-4) << "output " << i;
    EXPECT_EQ(engine->synchronize(0)[i].shape, expected[i].spec().shape) << "output " << i;
  }
  const auto read = engine->read_back(0);
  EXPECT_FALSE(read.layers.empty() && read.precisions.empty());
}

TEST(FoundFiles, AnswerAsInTheEnginesOwnPython) {
  const fs::path cases = fs::path(FOUND_FILES) / ENGINE;
  if (!fs::exists(cases)) GTEST_SKIP() << "no outputs from Python: see the test plugin.python_outputs";
  int found = 0;
  for (const auto& entry : fs::directory_iterator(cases)) {
    SCOPED_TRACE(read_file(entry.path() / "model"));
    expect_python_outputs(entry.path());
    ++found;
  }
  EXPECT_GE(found, FOUND_AT_LEAST);
}

}  // namespace
}  // namespace paceline::model_files_test
