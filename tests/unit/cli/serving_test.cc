// SPDX-License-Identifier: MIT
#include "cli/tune/serving.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "config/plan.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

config::Case arm_of(const fs::path& model) {
  write_file_atomic(model, "<net/>");
  return config::expand(config::load_plan_text("{kind: inference, engines: [openvino], models: ['" +
                                                   fs::relative(model).string() + "'], shapes: 'x:1x3'}",
                                               "test.yaml"))
      .at(0);
}

std::string program(const fs::path& folder, const config::Case& arm) {
  const auto made = program_of_arm(folder, arm);
  EXPECT_EQ(made.missing, "");
  return join(made.lines, "\n");
}

TEST(ServingProgram, FindsAKeptFileBesideItself) {
  const auto scratch = ScratchFolder::below_temp("paceline-serving");
  const auto arm = arm_of(scratch.path() / "net.xml");
  fs::create_directories(scratch.path() / "models");
  write_file_atomic(scratch.path() / "models" / (arm.id + ".onnx"), "");
  const auto text = program(scratch.path(), arm);
  EXPECT_EQ(text.find(scratch.path().string()), std::string::npos) << text;
  EXPECT_NE(text.find("core.read_model(str(pathlib.Path(__file__).resolve().parent / \"models/" + arm.id +
                      ".onnx\"))"),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.starts_with("import pathlib\n")) << text;
}

TEST(ServingProgram, NamesTheUsersFileFromTheRoot) {
  const auto scratch = ScratchFolder::below_temp("paceline-serving");
  const auto file = fs::canonical(scratch.path()) / "net.xml";
  const auto text = program("run", arm_of(file));
  EXPECT_NE(text.find("core.read_model(\"" + file.string() + "\")"), std::string::npos) << text;
  EXPECT_EQ(text.find("pathlib"), std::string::npos) << text;
}

}  // namespace
}  // namespace paceline::cli
