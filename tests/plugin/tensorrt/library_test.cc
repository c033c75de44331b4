// SPDX-License-Identifier: MIT
// Finding the libraries, and their words in ours.
#include "tensorrt/library.h"

#include <cstdlib>
#include <filesystem>

#include "plugin/tensorrt/double_test.h"
#include "tensorrt/driver.h"
#include "tensorrt/message_log.h"
#include "tensorrt/plan_file.h"

namespace paceline::tensorrt_test {
namespace {

using tensorrt_plugin::Library;
using tensorrt_plugin::MessageLog;
using tensorrt_plugin::plain_words;

class TensorRtLibrary : public Double {
 protected:
  TensorRtLibrary() { ::setenv("TENSORRT_ROOT", folder_.path().c_str(), 1); }
  void copy(const std::string& from, const std::string& to) {
    std::filesystem::copy_file(DOUBLE_ROOT "/lib/" + from, folder_.file(to));
  }
  static std::pair<std::optional<ErrorCode>, std::string> refusal() {
    return error_of([] { (void)Library(); });
  }
};

const std::string kVersion = std::to_string(DOUBLE_VERSION);

TEST_F(TensorRtLibrary, AFolderWithoutOneIsNamed) {
  const auto [code, text] = refusal();
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_THAT(text, AllOf(HasSubstr(folder_.path().string()), HasSubstr("set TENSORRT_ROOT")));
}

TEST_F(TensorRtLibrary, OneForOtherHeadersIsRefused) {
  const std::string other = DOUBLE_VERSION == 10 ? "11" : "10";
  copy("libnvinfer.so." + kVersion, "libnvinfer.so." + other);
  const auto [code, text] = refusal();
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_THAT(text, HasSubstr("needs a plug-in built with headers of TensorRT " + other));
}

TEST_F(TensorRtLibrary, AnInvalidLibraryIsReportedInTheLoadersWords) {
  (void)write("libnvinfer.so." + kVersion, "no library");
  const auto [code, text] = refusal();
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_THAT(text, HasSubstr("libnvinfer.so." + kVersion));
}

TEST_F(TensorRtLibrary, WithoutItsParserThereIsAReason) {
  copy("libnvinfer.so." + kVersion, "libnvinfer.so." + kVersion);
  const Library library;
  MessageLog log;
  const auto builder = library.make_builder(log);
  const std::unique_ptr<nvinfer1::INetworkDefinition> network(builder->createNetworkV2(0));
  const auto [code, text] = error_of([&] { (void)library.make_parser(*network, log); });
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_THAT(text, HasSubstr("cannot load the ONNX parser of TensorRT"));
}

TEST_F(TensorRtLibrary, ItsSiblingIsNamedAsSuchAndOnlyBuilds) {
  copy("libnvinfer.so." + kVersion, "libtensorrt_rtx.so.1");
  if (DOUBLE_VERSION < 11) {
    EXPECT_THAT(refusal().second, HasSubstr("headers of TensorRT 11"));
    return;
  }
  const Library library;
  EXPECT_EQ(library.title(), "TensorRT-RTX");
  const auto [code, text] = error_of([&] { tensorrt_plugin::check_plan("m.plan", "", library); });
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_THAT(text, HasSubstr("here is TensorRT-RTX 11.4.2"));
}

TEST(CudaDriver, AMachineWithoutOneSaysSo) {
  const auto [code, text] = error_of([] { (void)tensorrt_plugin::open_driver("libno_such_driver.so.1"); });
  EXPECT_EQ(code, ErrorCode::kUnavailable);
  EXPECT_THAT(text, AllOf(HasSubstr("NVIDIA GPUs"), HasSubstr("libno_such_driver.so.1")));
}

TEST(Messages, PlainWordsAreWithoutPlaces) {
  EXPECT_EQ(plain_words("[builder.cpp::build::12] Error Code 4: Internal Error (no profile)"),
            "Internal Error (no profile)");
  EXPECT_EQ(plain_words("IBuilder::buildSerializedNetwork: Error Code 10: no kernel"), "no kernel");
  EXPECT_EQ(plain_words("In node 3 with name: s and operator: Split (importSplit): UNSUPPORTED_NODE: "
                        "Assertion failed: a == b: odd"),
            "odd");
  EXPECT_EQ(plain_words("two\nlines\n"), "two lines");
  EXPECT_EQ(plain_words("no devices. In start at common/gpu.cpp:71"), "no devices.");
}

TEST(Messages, TheFirstErrorIsTheReason) {
  using Severity = nvinfer1::ILogger::Severity;
  MessageLog log;
  EXPECT_EQ(log.reason(), "it does not say why");
  log.log(Severity::kWARNING, "careful");
  log.log(Severity::kERROR, "the cause");
  log.log(Severity::kERROR, "what follows");
  EXPECT_EQ(log.reason(), "the cause");
  log.reset();
  EXPECT_EQ(log.reason(), "it does not say why");
}

}  // namespace
}  // namespace paceline::tensorrt_test
