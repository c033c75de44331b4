// SPDX-License-Identifier: MIT
#include "host/checks/cuda_software.h"

#include <gtest/gtest.h>

namespace paceline::host {
namespace {

NvidiaDriver driver(const std::string& version, const std::string& cuda) {
  using Text = Maybe<std::string>;
  return {version.empty() ? Text::missing("not known") : Text(version),
          cuda.empty() ? Text::missing("not known") : Text(cuda),
          {}};
}

std::string problem(const std::string& version, const std::string& cuda, const std::string& runtime) {
  return driver_problem(driver(version, cuda), runtime).text;
}

TEST(CudaSoftware, ADriverRunsEveryOlderCuda) {
  EXPECT_EQ(problem("580.65.06", "13.0", "13.0"), "");
  EXPECT_EQ(problem("580.65.06", "13.0", "12.8"), "");
  EXPECT_EQ(problem("580.65.06", "13.0", "10.2"), "");
}

TEST(CudaSoftware, ADriverRunsNewerMinorVersionsOfItsMajorVersion) {
  EXPECT_EQ(problem("580.65.06", "13.0", "13.2"), "");
  EXPECT_EQ(problem("525.60.13", "12.0", "12.8"), "");
  EXPECT_NE(problem("525.60.12", "12.0", "12.8"), "") << "before the first of CUDA 12";
  EXPECT_NE(problem("450.36.06", "11.0", "11.8"), "");
  EXPECT_EQ(problem("450.80.02", "11.0", "11.8"), "");
}

TEST(CudaSoftware, AnOlderMajorVersionIsTooOld) {
  EXPECT_EQ(problem("575.57.08", "12.9", "13.0"),
            "driver 575.57.08 (CUDA up to 12.9) is too old for CUDA runtime 13.0");
  EXPECT_EQ(driver_problem(driver("575.57.08", "12.9"), "13.0").fix,
            "install driver 580.65.06 or newer, or libraries that are built for an older CUDA");
  EXPECT_EQ(driver_problem(driver("580.65.06", "13.0"), "14.1").fix,
            "install a driver for CUDA 14, or libraries that are built for an older CUDA");
  EXPECT_EQ(problem("535.1.2", "13.1", "13.1"), "") << "the compatibility package brings a newer libcuda";
}

TEST(CudaSoftware, UnknownVersionsAreNotJudged) {
  EXPECT_EQ(problem("", "", "13.0"), "");
  EXPECT_EQ(problem("", "13.0", "13.1"), "");
  EXPECT_EQ(problem("580.65.06", "13.0", "unknown"), "");
  EXPECT_NE(problem("575.57.08", "", "13.0"), "") << "the driver's number alone says it";
  EXPECT_NE(problem("9.1", "", "11.0"), "") << "numbers, no text";
}

TEST(CudaSoftware, TheRowNamesEveryLibrary) {
  std::vector<Fact> facts{{"library spin", "1", {}},
                          {"library cuDNN", "9.10.2", {}},
                          {"library CUDA runtime", "12.8", {}},
                          {"library CUDA runtime of plug-in tensorrt", "13.2", {}},
                          {"library NCCL", "2.27.7", {}}};
  const auto row = check_cuda_software(driver("580.65.06", "13.0"), facts);
  EXPECT_EQ(
      row.text,
      "driver 580.65.06 (CUDA up to 13.0), CUDA runtime 12.8, CUDA runtime of plug-in tensorrt 13.2, cuDNN "
      "9.10.2, NCCL 2.27.7");
  EXPECT_EQ(row.status, CheckStatus::kPass);
  const auto old = check_cuda_software(driver("550.54.14", "12.4"), facts);
  EXPECT_EQ(old.status, CheckStatus::kFail);
  EXPECT_EQ(old.text, "driver 550.54.14 (CUDA up to 12.4) is too old for CUDA runtime 13.2");
  facts.resize(1);
  EXPECT_EQ(check_cuda_software(driver("580.65.06", "13.0"), facts).status, CheckStatus::kSkip);
}

}  // namespace
}  // namespace paceline::host
