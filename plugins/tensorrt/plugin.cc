// SPDX-License-Identifier: MIT
// The exported description: engine `tensorrt`, builder of `.plan`.
#include "plugin/plugin.h"

#include "tensorrt/library.h"
#include "tensorrt/plan_builder.h"
#include "tensorrt/plan_engine.h"

namespace paceline::tensorrt_plugin {
namespace {

std::unique_ptr<plugin::Engine> make_engine() {
  return std::make_unique<PlanEngine>();
}

std::unique_ptr<plugin::Builder> make_builder() {
  return std::make_unique<PlanBuilder>();
}

constexpr plugin::EngineEntry kEngines[] = {{"tensorrt", "plans of TensorRT on an NVIDIA GPU", make_engine}};
constexpr plugin::BuilderEntry kBuilders[] = {{"tensorrt", ".plan", make_builder}};
const plugin::Plugin kPlugin = {plugin::kAbiVersion, "tensorrt", library_versions, kEngines, {}, kBuilders};

}  // namespace
}  // namespace paceline::tensorrt_plugin

PACELINE_PLUGIN(paceline::tensorrt_plugin::kPlugin)
