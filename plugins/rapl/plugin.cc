// SPDX-License-Identifier: MIT
// The exported description: sampler `rapl`.
#include "plugin/plugin.h"

#include "rapl/rapl_sampler.h"

namespace paceline::rapl_plugin {
namespace {

std::unique_ptr<plugin::Sampler> make_sampler() {
  return std::make_unique<RaplSampler>();
}

std::vector<std::pair<std::string, std::string>> versions() {
  return {};
}

constexpr plugin::SamplerEntry kSamplers[] = {{"rapl", make_sampler}};
const plugin::Plugin kPlugin{.abi_version = plugin::kAbiVersion,
                             .name = "rapl",
                             .versions = versions,
                             .engines = {},
                             .samplers = kSamplers};

}  // namespace
}  // namespace paceline::rapl_plugin

PACELINE_PLUGIN(paceline::rapl_plugin::kPlugin)
