// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/scratch_folder.h"
#include "run/inference/check_files.h"

namespace paceline::run {
namespace {

class Labels : public ::testing::Test {
 protected:
  template <typename T>
  std::string array(DType dtype, std::vector<T> values) {
    const TensorView view{"l", values.data(), dtype, {static_cast<std::int64_t>(values.size())}, {}, {}};
    write_npy(folder_.path() / "l.npy", view);
    return folder_.path() / "l.npy";
  }
  std::string text(const std::string& lines) {
    write_file_atomic(folder_.path() / "l.txt", lines);
    return folder_.path() / "l.txt";
  }
  const ScratchFolder folder_ = ScratchFolder::below_temp("labels");
};

TEST_F(Labels, AreTextOrAnArray) {
  EXPECT_EQ(read_labels(text("3\n 1 \n\n0\n")), (std::vector<std::int64_t>{3, 1, 0}));
  EXPECT_EQ(read_labels(array<std::int32_t>(DType::kInt32, {5, 6})), (std::vector<std::int64_t>{5, 6}));
}

TEST_F(Labels, InvalidLabelsAreNamedWithTheirLine) {
  try {
    read_labels(text("3\ntabby cat\n"));
    FAIL() << "a word was accepted as a label";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("line 2: 'tabby cat'"), std::string::npos) << e.what();
  }
  EXPECT_THROW(read_labels(text("\n")), Error);
  EXPECT_THROW(read_labels(array<float>(DType::kFloat32, {1, 2})), Error);
}

}  // namespace
}  // namespace paceline::run
