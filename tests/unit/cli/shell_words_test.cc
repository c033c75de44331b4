// SPDX-License-Identifier: MIT
#include "cli/shell_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/command_table.h"

namespace paceline::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

CommandWords command(const std::string& name) {
  for (auto& one : shell_commands())
    if (std::ranges::count(one.names, name) > 0) return one;
  ADD_FAILURE() << "no command " << name;
  return {};
}
FlagWords flag(const CommandWords& of, const std::string& spelling) {
  for (const auto& one : of.flags)
    if (std::ranges::count(one.spellings, spelling) > 0) return one;
  ADD_FAILURE() << "no flag " << spelling;
  return {};
}

TEST(ShellWords, NoFlagStandsTwiceInACommand) {
  for (const auto& one : shell_commands()) {
    std::vector<std::string> seen;
    for (const auto& flag : one.flags)
      for (const auto& spelling : flag.spellings) {
        EXPECT_THAT(seen, Not(Contains(spelling))) << one.names.front();
        seen.push_back(spelling);
      }
  }
}

// A shell would expand or end at these.
TEST(ShellWords, HelpHasNothingThatAShellInterprets) {
  for (const auto& one : shell_commands())
    for (const auto& flag : one.flags)
      EXPECT_EQ(flag.help.find_first_of("'\"`$\\[]"), std::string::npos) << flag.spellings.front();
}

TEST(ShellWords, AFlagKnowsItsValues) {
  const auto infer = command("infer");
  const auto engine = flag(infer, "--engine");
  EXPECT_THAT(engine.values, Contains("onnxruntime"));
  EXPECT_TRUE(engine.takes_value);
  EXPECT_TRUE(engine.takes_list);
  EXPECT_THAT(flag(infer, "--device").values, ElementsAre("cpu", "cuda", "auto"));
  EXPECT_TRUE(flag(infer, "--batch").values.empty());
  EXPECT_FALSE(flag(infer, "--dry-run").takes_value);
  EXPECT_FALSE(command("schema").words.empty());
}

TEST(ShellWords, OnlyWhatTheHelpListsIsOffered) {
  for (const auto& one : commands()) {
    if (one.summary.empty()) continue;
    const auto help = command_help(one);
    const auto words = command(std::string(one.name));
    for (const auto& flag : words.flags)
      for (const auto& spelling : flag.offered) {
        const auto at = help.find(spelling);
        ASSERT_NE(at, std::string::npos) << one.name << ' ' << spelling;
      }
  }
  EXPECT_THAT(flag(command("infer"), "--concurrency").offered,
              ElementsAre("--concurrency"));  // not --streams
  EXPECT_THAT(flag(command("train"), "--steps").offered, Contains("--steps"));
  EXPECT_TRUE(flag(command("run"), "--batch").offered.empty());
}

}  // namespace
}  // namespace paceline::cli
