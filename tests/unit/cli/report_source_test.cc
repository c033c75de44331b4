// SPDX-License-Identifier: MIT
#include "cli/report/report_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A case whose file of kernels cannot be drawn costs its picture alone.
class KernelsOfACase : public ::testing::Test {
 protected:
  void SetUp() override {
    stored_.folder = folder_.path();
    auto& one = stored_.run.cases.emplace_back();
    one.case_id = "resnet50", one.label = "resnet50 eager";
    file_ = result::folder_of_case(stored_, one.case_id) / "ncu.json";
    fs::create_directories(file_.parent_path());
  }
  std::vector<std::string> warnings() { return report_run(stored_, true).result.warnings; }

  ScratchFolder folder_ = ScratchFolder::below_temp("paceline-report-source");
  result::StoredRun stored_;
  fs::path file_;
};

TEST_F(KernelsOfACase, AreDrawn) {
  replace_file(file_,
               R"({"kernels": [{"name": "gemm", "flops_per_s": 1, "dram_bytes_per_s": 2, "share": 1}]})");
  EXPECT_EQ(report_run(stored_, true).kernels.at("resnet50").size(), 1U);
}

TEST_F(KernelsOfACase, OfADamagedFileAreLeftOut) {
  replace_file(file_, "{");
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("resnet50 eager: the kernels in ncu.json cannot be drawn")));
}

TEST_F(KernelsOfACase, OfAFileThatCannotBeReadAreLeftOut) {
  fs::create_symlink("/proc/self/mem",
                     file_);  // a regular file, which not even root reads from its beginning
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("resnet50 eager: the kernels in ncu.json cannot be drawn")));
}

TEST_F(KernelsOfACase, OfALinkToItselfAreNotThere) {
  fs::create_symlink(file_, file_);
  EXPECT_THAT(warnings(), IsEmpty());
}

}  // namespace
}  // namespace paceline::cli
