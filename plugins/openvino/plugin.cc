// SPDX-License-Identifier: MIT
#include "plugin/plugin.h"

#include "openvino/openvino_engine.h"

namespace paceline::openvino_plugin {
namespace {

std::unique_ptr<plugin::Engine> make_engine() {
  return std::make_unique<OpenVinoEngine>();
}

constexpr plugin::EngineEntry kEngines[] = {{"openvino", "OpenVINO, CPU device", make_engine}};
const plugin::Plugin kPlugin = {plugin::kAbiVersion, "openvino", library_versions, kEngines};

}  // namespace
}  // namespace paceline::openvino_plugin

PACELINE_PLUGIN(paceline::openvino_plugin::kPlugin)
