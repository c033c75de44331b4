// SPDX-License-Identifier: MIT
// The exported description: engine `openvino`.
#include "plugin/plugin.h"

#include "openvino/openvino_builder.h"
#include "openvino/openvino_engine.h"

namespace paceline::openvino_plugin {
namespace {

std::unique_ptr<plugin::Engine> make_engine() {
  return std::make_unique<OpenVinoEngine>();
}

std::unique_ptr<plugin::Builder> make_builder() {
  return std::make_unique<OpenVinoBuilder>();
}

constexpr plugin::EngineEntry kEngines[] = {{"openvino", "OpenVINO, CPU device", make_engine}};
constexpr plugin::BuilderEntry kBuilders[] = {{"openvino", ".blob", make_builder}};
const plugin::Plugin kPlugin = {plugin::kAbiVersion, "openvino", library_versions, kEngines, {}, kBuilders};

}  // namespace
}  // namespace paceline::openvino_plugin

PACELINE_PLUGIN(paceline::openvino_plugin::kPlugin)
