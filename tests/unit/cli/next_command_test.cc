// SPDX-License-Identifier: MIT
#include "cli/run/next_command.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/scratch_folder.h"
#include "config/flags.h"
#include "support/declared_options.h"

namespace paceline::cli {
namespace {

// File types are told by what manifests declare.
const auto* const kThisBuild = ::testing::AddGlobalTestEnvironment(new ::paceline::test::OptionsOfThisBuild);

run::EngineDirectory engines(std::vector<std::string> names) {
  std::vector<plugin::Manifest> plugins;
  for (auto& name : names)
    plugins.push_back({name, name + ".so", {{plugin::Role::kEngine, name}}, {}, "", ""});
  return run::EngineDirectory(std::move(plugins));
}

// After `paceline infer WORDS` here.
NextCommands both_next(const std::vector<std::string>& words, const run::EngineDirectory& here,
                       const result::RunResult& run = {}) {
  const Context context{"infer", words, ""};
  const auto flags = config::parse_flags(words, config::kInfer);
  auto cases = config::expand(config::plan_from_flags(flags));
  for (auto& one : cases) one.settings.set("device", std::string("cpu"));  // as auto is settled
  return next_commands(context, flags, cases, here, run);
}
std::string next(const std::vector<std::string>& words, const run::EngineDirectory& here,
                 const result::RunResult& run = {}) {
  return both_next(words, here, run).compare;
}

class NextCommand : public ::testing::Test {
 protected:
  void SetUp() override { write_file_atomic(file_, ""); }

  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-next");
  std::filesystem::path file_ = scratch_.path() / "it's.onnx";
  std::vector<std::string> words_{"--model", file_.string(), "--shapes", "x:{batch}x3"};
};

TEST_F(NextCommand, IsTheSameOneWithAllEnginesThatReadTheFile) {
  EXPECT_EQ(next(words_, engines({"openvino", "onnxruntime", "tensorrt"})),
            "paceline infer --model '" + scratch_.path().string() +
                "/it'\\''s.onnx' --shapes 'x:{batch}x3' --engine onnxruntime,openvino --repetitions 6");
}

TEST_F(NextCommand, LeavesOutWhatRefusedTheFile) {
  result::RunResult run;
  run.cases.emplace_back().correctness.refused_by = "openvino";
  EXPECT_EQ(next(words_, engines({"openvino", "onnxruntime"}), run), "");  // nothing is left to compare
}

TEST_F(NextCommand, TheSearchKeepsWhatIsAboutTheModel) {
  const auto both = engines({"openvino", "onnxruntime"});
  auto words = words_;
  words.insert(words.end(), {"--iterations", "20"});
  const auto model = "paceline tune --model '" + scratch_.path().string() + "/it'\\''s.onnx'";
  EXPECT_EQ(both_next(words, both).tune, model + " --shapes 'x:{batch}x3'");
  words.insert(words.end(), {"--batch", "2"});
  EXPECT_EQ(both_next(words, both).tune, "");
  EXPECT_EQ(both_next(words_, engines({"openvino"})).tune, "");  // nothing is left to compare
}

TEST_F(NextCommand, SaysNothingWhereTheUserComparesAlready) {
  const auto both = engines({"openvino", "onnxruntime"});
  for (const auto& more : std::vector<std::vector<std::string>>{
           {"--repetitions", "3"}, {"--engine", "openvino"}, {"--precision", "fp32"}, {"--batch", "1,2"}}) {
    auto words = words_;
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(next(words, both), "") << more[0];
  }
  EXPECT_EQ(next({"--model", "resnet50"}, both), "");
}

}  // namespace
}  // namespace paceline::cli
