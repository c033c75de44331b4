// SPDX-License-Identifier: MIT
#include "lagging_device.h"
#include "plugin/plugin.h"
#include "torch/training/make.h"
#include "torch/versions.h"

// A plug-in without engines, whose trainer is one step behind, for tests of what the tool makes of that.
namespace paceline::torch_test {
namespace {

constexpr plugin::TrainerEntry kTrainers[] = {{"cpu", make_lagging_trainer}};
constexpr plugin::BackendEntry kBackends[] = {{"gloo", torch_plugin::connect_store, torch_plugin::join_gloo}};
const plugin::Plugin kPlugin = {plugin::kAbiVersion, "lagging", torch_plugin::library_versions, {}, {}, {},
                                kTrainers,           kBackends};

}  // namespace
}  // namespace paceline::torch_test

PACELINE_PLUGIN(paceline::torch_test::kPlugin)
