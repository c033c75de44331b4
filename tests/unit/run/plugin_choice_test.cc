// SPDX-License-Identifier: MIT
#include "run/case/plugin_choice.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline::run {
namespace {

using plugin::Role;

const plugin::Manifest kCpu{
    "torch",
    "torch.so",
    {{Role::kEngine, "eager", "cpu"}, {Role::kEngine, "torchscript", "cpu"}, {Role::kTrainer, "cpu", "cpu"}},
    {},
    "",
    ""};
const plugin::Manifest kCuda{
    "cuda", "cuda.so", {{Role::kEngine, "eager", "cuda"}, {Role::kTrainer, "cuda", "cuda"}}, {}, "", ""};
const plugin::Manifest kNoCuda{
    "cuda", "", {{Role::kEngine, "eager", "cuda"}}, {}, "no CUDA toolkit found", "install it"};

std::string file_of(const EngineDirectory& plugins, const std::string& engine, const std::string& device) {
  return plugins.find(Role::kEngine, engine, device).file.string();
}

TEST(PluginChoice, TheDeviceDecidesBetweenPluginsWithTheSameEngine) {
  const EngineDirectory both({kCuda, kCpu});
  EXPECT_EQ(both.find("eager").file, "torch.so");
  EXPECT_EQ(file_of(both, "eager", "cuda:0"), "cuda.so");
  EXPECT_EQ(file_of(both, "eager", "cuda:9"), "cuda.so");  // how many there are, the plug-in knows
}

TEST(PluginChoice, APluginForAnyDeviceAnswersForItself) {
  const EngineDirectory engines({{"tensorrt", "rt.so", {{Role::kEngine, "tensorrt"}}, {}, "", ""}});
  EXPECT_EQ(engines.find("tensorrt").file, "rt.so");
  EXPECT_EQ(file_of(engines, "tensorrt", "cuda:1"), "rt.so");
}

TEST(PluginChoice, SaysWhereAnEngineRunsInstead) {
  const EngineDirectory both({kCuda, kCpu});
  const auto home = both.find(Role::kEngine, "torchscript", "cuda:1");
  EXPECT_TRUE(home.file.empty());
  EXPECT_EQ(home.unavailable, "engine 'torchscript' does not run on cuda:1 here; it does on: cpu");
}

TEST(PluginChoice, SaysWhyThePluginOfADeviceIsNotBuilt) {
  const EngineDirectory none({kNoCuda, kCpu});
  EXPECT_EQ(none.find(Role::kEngine, "eager", "cuda:0").unavailable,
            "engine 'eager' needs the cuda plug-in, which is not built: no CUDA toolkit found; to get it: "
            "install it");
  EXPECT_EQ(none.find("eager").file, "torch.so");
}

TEST(PluginChoice, APluginOfTheUsersAnswersForItself) {
  const EngineDirectory mine({{"mine", "mine.so", {{Role::kEngine, "eager"}}, {}, "", ""}, kCpu});
  EXPECT_EQ(file_of(mine, "eager", "cuda:0"), "mine.so");
}

TEST(PluginChoice, ATrainerIsFoundAsSuchAndNotByAnEngine) {
  const plugin::Manifest trainer{"mine", "mine.so", {{Role::kTrainer, "cpu"}}, {}, "", ""};
  const EngineDirectory plugins({trainer, kCuda, kCpu});
  EXPECT_EQ(plugins.find(Role::kTrainer, "cpu").file, "mine.so");
  EXPECT_EQ(plugins.find(Role::kTrainer, "cuda", "cuda").file, "cuda.so");
  EXPECT_EQ(plugins.find("eager").file, "torch.so");
  const EngineDirectory engine_alone({{"mine", "mine.so", {{Role::kEngine, "eager"}}, {}, "", ""}, kCpu});
  EXPECT_EQ(engine_alone.find(Role::kTrainer, "cpu").file, "torch.so");
  EXPECT_NE(plugins.find(Role::kExporter, "onnx").unavailable.find("no plug-in here brings exporter 'onnx'"),
            std::string::npos);
}

TEST(PluginChoice, ABuiltPluginWinsOverOneThatIsNot) {
  auto absent = kCpu;
  absent.not_built_because = "no LibTorch found";
  const EngineDirectory both({absent, {"other", "other.so", {{Role::kTrainer, "cpu", "cpu"}}, {}, "", ""}});
  EXPECT_EQ(both.find(Role::kTrainer, "cpu").file, "other.so");
}

class Manifests : public ::testing::Test {
 protected:
  plugin::Manifest read(const std::string& capabilities) {
    write_file_atomic(scratch_.path() / "x.json",
                      R"({"name": "x", "file": "x.so", )" + capabilities +
                          R"(, "built_for": {}, "not_built_because": "", "fix": ""})");
    return plugin::read_manifests(scratch_.path()).at(0);
  }
  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-manifests");
};

TEST_F(Manifests, ListCapabilitiesEachWithItsDevice) {
  const auto found =
      read(R"("capabilities": ["engine a", "trainer cpu", "builder a any"], "device": "cuda")");
  const std::vector<plugin::Capability> expected{
      {Role::kEngine, "a", "cuda"}, {Role::kTrainer, "cpu", "cuda"}, {Role::kBuilder, "a", "any"}};
  EXPECT_EQ(found.capabilities, expected);
  EXPECT_EQ(plugin::summary_of(found.capabilities), "engines a; builders a; trainers cpu");
}

TEST(Capabilities, AreReadBackAsTheyWereWritten) {
  for (const plugin::Capability& one :
       {plugin::Capability{Role::kEngine, "my own engine", "any"}, {Role::kTrainer, "cpu", "cpu"}})
    EXPECT_EQ(plugin::capability_of(plugin::to_text(one)), one) << plugin::to_text(one);
}

TEST_F(Manifests, DeclareOptionsOfTheirEngines) {
  const auto options = read(R"("capabilities": ["engine a"], "options": [
      {"name": "a.size", "type": "bytes", "min": 1024, "unit": "bytes", "default": 4096, "help": "How large."},
      {"name": "a.mode", "type": "choice", "choices": ["x", "y"], "help": "Which.", "identity": false},
      {"name": "cuda.tries", "help": "On the device."}])")
                           .options;
  ASSERT_EQ(options.size(), 3U);
  EXPECT_EQ(options[0].engine, "a");
  EXPECT_EQ(options[0].type, DeclaredType::kBytes);
  EXPECT_EQ(options[0].min, 1024);
  EXPECT_EQ(options[0].fallback, "4096");
  EXPECT_TRUE(options[0].identity);
  EXPECT_EQ(options[1].choices, (std::vector<std::string>{"x", "y"}));
  EXPECT_FALSE(options[1].identity);
  EXPECT_EQ(options[2].engine, "");
  EXPECT_EQ(options[2].section(), "cuda");
}

TEST_F(Manifests, OptionsOfASamplerDoNotTellCasesApart) {
  const auto options =
      read(R"("capabilities": ["sampler a"], "options": [{"name": "a.every_ms", "help": "How often."}])")
          .options;
  ASSERT_EQ(options.size(), 1U);
  EXPECT_EQ(options[0].sampler, "a");
  EXPECT_EQ(options[0].engine, "");
  EXPECT_FALSE(options[0].identity);
}

TEST_F(Manifests, SayWhatIsWrongWithAnOption) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {R"({"name": "b.size", "help": "x"})", "begins with no engine or sampler of the plug-in (engines a"},
      {R"({"name": "size", "help": "x"})", "is not OWNER.NAME"},
      {R"({"name": "a.Size", "help": "x"})", "is not OWNER.NAME"},
      {R"({"name": "a.size"})", "it has no help"},
      {R"({"name": "a.size", "help": "x", "type": "int"})", "type 'int' is none of text, integer"},
      {R"({"name": "a.size", "help": "x", "type": "choice"})", "has choices"},
      {R"({"name": "a.size", "help": "x", "defualt": "1"})", "it has no field 'defualt'"},
      {R"({"name": "a.size", "help": "x", "min": 2, "max": 1})", "larger than its max"}};
  for (const auto& [option, words] : wrong) {
    const auto found = read(R"("capabilities": ["engine a"], "options": [)" + option + "]");
    EXPECT_TRUE(found.file.empty());
    EXPECT_NE(found.not_built_because.find(words), std::string::npos) << found.not_built_because;
  }
}

// A launcher names the release of a library in the variable (scripts/bundle/with_pytorch.sh).
TEST_F(Manifests, OfSeveralReleasesTheOneThatIsHereCounts) {
  const auto write = [&](const std::string& release) {
    write_file_atomic(
        scratch_.path() / ("x-" + release + ".json"),
        R"({"name": "x", "file": ")" + release + R"(.so", "capabilities": ["engine a"], )" +
            R"("built_for": {}, "not_built_because": "", "fix": "", "needs": {"library": "X", )" +
            R"("variable": "PACELINE_TEST_X", "releases": ["2.0", "1.0"], "version": ")" + release +
            R"(", "install": "x"}})");
  };
  const auto found = [&](const char* release) {
    ::setenv("PACELINE_TEST_X", release, 1);
    return plugin::read_manifests(scratch_.path());
  };
  ::unsetenv("PACELINE_PYTHON");
  write("2.0");
  write("1.0");
  for (const std::string here : {"1.0", "2.0"}) {
    ASSERT_EQ(found(here.c_str()).size(), 1U);
    EXPECT_EQ(found(here.c_str())[0].file, scratch_.path() / (here + ".so"));
  }
  EXPECT_EQ(EngineDirectory(found("")).find("a").unavailable,
            "engine 'a' needs the x plug-in, which cannot run here: no X in this environment; to get it: "
            "python3 -m pip install x");
  EXPECT_EQ(plugin::absence(found("3.0")[0]),
            "cannot run here: the X of this environment is 3.0, and this paceline has plug-ins for 2.0, 1.0");
  ::unsetenv("PACELINE_TEST_X");
}

TEST_F(Manifests, WithACapabilityOfALaterVersionAreNotLoaded) {
  for (const char* text : {"oracle power", "engine", ""}) {
    const auto found = read(R"("capabilities": [")" + std::string(text) + R"("])");
    EXPECT_TRUE(found.file.empty());
    EXPECT_NE(found.not_built_because.find("this version knows no capability '" + std::string(text) + "'"),
              std::string::npos)
        << found.not_built_because;
  }
}

}  // namespace
}  // namespace paceline::run
