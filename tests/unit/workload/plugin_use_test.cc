// SPDX-License-Identifier: MIT
// The plug-ins of a pass, by their roles.
#include <gtest/gtest.h>

#include "base/error.h"
#include "pass/pass.h"

namespace paceline::workload {
namespace {

using plugin::Role;

pass::PassSpec trains() {
  pass::PassSpec spec;
  spec.kind = pass::PassKind::kTrain;
  spec.use(Role::kTrainer, "cuda", "a.so");
  spec.use(Role::kBackend, "gloo", "b.so");
  return spec;
}

TEST(PluginUse, ATrainerAndItsBackendMayComeFromTwoPlugins) {
  EXPECT_EQ(trains().plugin(Role::kTrainer).file, "a.so");
  EXPECT_EQ(trains().plugin(Role::kBackend).file, "b.so");
  EXPECT_EQ(trains().engine(), "");
}

TEST(PluginUse, ThereIsOneOfARole) {
  auto spec = trains();
  spec.use(Role::kBackend, "nccl", "c.so");
  EXPECT_EQ(spec.plugins.size(), 2U);
  EXPECT_EQ(spec.plugin(Role::kBackend).name, "nccl");
}

TEST(PluginUse, AskingForAnotherRoleIsAnInternalError) {
  try {
    (void)trains().plugin(Role::kEngine);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInternal);
    EXPECT_STREQ(e.what(), "a train pass without plug-in for its engine");
  }
}

TEST(PluginUse, TheyTravelToTheWorker) {
  auto spec = trains();
  spec.plugins.front().options["device"] = "cuda:1";
  const auto back = pass::pass_from_json(pass::to_json(spec));
  ASSERT_EQ(back.plugins.size(), 2U);
  EXPECT_EQ(back.plugins[0].role, Role::kTrainer);
  EXPECT_EQ(back.plugins[0].name, "cuda");
  EXPECT_EQ(back.plugins[0].options.at("device"), "cuda:1");
  EXPECT_EQ(back.plugins[1].file, "b.so");
}

}  // namespace
}  // namespace paceline::workload
