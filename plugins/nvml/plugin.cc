// SPDX-License-Identifier: MIT
// The exported description: sampler `nvml`.
#include "plugin/plugin.h"

#include "base/nvml_library.h"
#include "nvml/nvml_sampler.h"

namespace paceline::nvml_plugin {
namespace {

std::unique_ptr<plugin::Sampler> make_sampler() {
  return std::make_unique<NvmlSampler>();
}

std::vector<std::pair<std::string, std::string>> versions() {
  const nvml::Library library;
  std::string reason;
  auto version = library.text("nvmlSystemGetNVMLVersion", reason);
  if (!reason.empty()) return {};
  return {{"NVML", std::move(version)}};
}

constexpr plugin::SamplerEntry kSamplers[] = {{"nvml", make_sampler}};
const plugin::Plugin kPlugin{.abi_version = plugin::kAbiVersion,
                             .name = "nvml",
                             .versions = versions,
                             .engines = {},
                             .samplers = kSamplers};

}  // namespace
}  // namespace paceline::nvml_plugin

PACELINE_PLUGIN(paceline::nvml_plugin::kPlugin)
