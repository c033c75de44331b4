// SPDX-License-Identifier: MIT
#include "cli/overwriting.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

class Overwriting : public ::testing::Test {
 protected:
  void SetUp() override { write_file_atomic(input_, "an input"); }

  // Error for a command that reads `value` by --option and writes `output`; empty: none.
  [[nodiscard]] std::string said(const std::string& option, const std::string& value,
                                 const fs::path& output) const {
    config::FlagSet flags;
    config::RawSetting read, written;
    read.name = option, read.written = "--" + option, read.values.emplace_back().text = value;
    written.name = "junit", written.written = "--junit", written.values.emplace_back().text = output.string();
    flags.settings = {read, written};
    try {
      check_overwrites_no_input(flags, "junit", std::vector{output});
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage);
      return e.what();
    }
    return {};
  }

  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-overwriting");
  fs::path input_ = scratch_.path() / "a.npy";
};

TEST_F(Overwriting, AnotherFileIsFine) {
  EXPECT_EQ(said("input", input_.string(), scratch_.path() / "out.xml"), "");
}

TEST_F(Overwriting, AnInputIsNamedWithItsFlag) {
  EXPECT_EQ(said("input", input_.string(), input_),
            "--junit would overwrite '" + input_.string() + "', which --input reads; name another file");
}

TEST_F(Overwriting, SpellingLinksAndNamesOfInputsDoNotMatter) {
  const auto link = scratch_.path() / "link.npy";
  fs::create_symlink(input_, link);
  EXPECT_NE(said("input", input_.string(), scratch_.path() / "." / "a.npy"), "");
  EXPECT_NE(said("input", link.string(), input_), "");
  EXPECT_NE(said("input", "x:" + input_.string(), input_), "");
  EXPECT_NE(said("input", "x:0:" + input_.string(), input_), "");
}

TEST_F(Overwriting, OutputsAreNotInputsOfAnotherFlag) {
  EXPECT_EQ(said("log", input_.string(), input_), "");
}

TEST_F(Overwriting, AnArgumentIsAnInput) {
  config::FlagSet flags;
  flags.positionals = {input_.string()};
  EXPECT_THROW(check_overwrites_no_input(flags, "output", std::vector{input_}), Error);
}

TEST_F(Overwriting, ANameThatCannotBeAFileIsRefused) {
  const auto circle = scratch_.path() / "circle";
  fs::create_symlink(circle, circle);
  EXPECT_NE(said("input", input_.string(), circle / "a").find("cannot be used"), std::string::npos);
  EXPECT_NE(said("input", input_.string(), scratch_.path() / std::string(300, 'x')).find("cannot be used"),
            std::string::npos);
}

}  // namespace
}  // namespace paceline::cli
