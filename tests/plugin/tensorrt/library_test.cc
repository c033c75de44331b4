// SPDX-License-Identifier: MIT
// Finding the library: what is not there, and what is for other headers. A process opens it once, so each test is
// its own.
#include <cstdlib>
#include <filesystem>

#include "plugin/tensorrt/double_test.h"

namespace paceline::tensorrt_test {
namespace {

using TensorRtLibrary = Double;

TEST_F(TensorRtLibrary, AFolderWithoutOneIsNamed) {
  ::setenv("TENSORRT_ROOT", folder_.path().c_str(), 1);
  const auto [code, text] = error_of([&] { (void)build(kModel); });
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_THAT(text, AllOf(HasSubstr(folder_.path().string()), HasSubstr("set TENSORRT_ROOT")));
}

TEST_F(TensorRtLibrary, OneForOtherHeadersIsRefused) {
  const std::string other = DOUBLE_VERSION == 10 ? "11" : "10";
  (void)write("libnvinfer.so." + other, "");
  ::setenv("TENSORRT_ROOT", folder_.path().c_str(), 1);
  const auto [code, text] = error_of([&] { (void)build(kModel); });
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_THAT(text, HasSubstr("needs a plug-in built with headers of TensorRT " + other));
}

TEST_F(TensorRtLibrary, WithoutItsParserThereIsAReason) {
  std::filesystem::copy_file(DOUBLE_ROOT "/lib/libnvinfer.so." + std::to_string(DOUBLE_VERSION),
                             folder_.file("libnvinfer.so." + std::to_string(DOUBLE_VERSION)));
  ::setenv("TENSORRT_ROOT", folder_.path().c_str(), 1);
  const auto [code, text] = error_of([&] { (void)build(kModel); });
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_THAT(text, HasSubstr("cannot load the ONNX parser"));
}

TEST_F(TensorRtLibrary, ItsSiblingIsNamedAsSuch) {
  if (DOUBLE_VERSION < 11) GTEST_SKIP() << "TensorRT-RTX has the interface of TensorRT 11";
  for (const auto& [from, to] : {std::pair{"libnvinfer.so.11", "libtensorrt_rtx.so.1"},
                                 std::pair{"libnvonnxparser.so.11", "libtensorrt_onnxparser_rtx.so.1"}})
    std::filesystem::copy_file(std::string(DOUBLE_ROOT "/lib/") + from, folder_.file(to));
  ::setenv("TENSORRT_ROOT", folder_.path().c_str(), 1);
  const auto report = build(kModel);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes[0], HasSubstr("TensorRT-RTX 11.4.2, which is not TensorRT"));
  EXPECT_EQ(setting(*load({1, 4}), "library"), "TensorRT-RTX");
}

}  // namespace
}  // namespace paceline::tensorrt_test
