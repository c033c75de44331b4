// SPDX-License-Identifier: MIT
// The exported description: engine `onnxruntime`.
#include "plugin/plugin.h"

#include "onnxruntime/library.h"
#include "onnxruntime/ort_engine.h"

namespace paceline::ort_plugin {
namespace {

std::unique_ptr<plugin::Engine> make_engine() {
  return std::make_unique<OrtEngine>();
}

constexpr plugin::EngineEntry kEngines[] = {
    {"onnxruntime", "ONNX Runtime, on the CPU or a CUDA device", make_engine}};
const plugin::Plugin kPlugin = {plugin::kAbiVersion, "onnxruntime", library_versions, kEngines};

}  // namespace
}  // namespace paceline::ort_plugin

PACELINE_PLUGIN(paceline::ort_plugin::kPlugin)
