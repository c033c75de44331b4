// SPDX-License-Identifier: MIT
#include "run/case/sampler_choice.h"

#include <map>

#include "config/declared_options.h"
#include "result/stored/cpu_power.h"
#include "result/stored/device_state.h"

namespace paceline::run {
namespace {

// The settings that carry the sampler's name, without it.
std::map<std::string, std::string> options_of_sampler(const config::Settings& settings,
                                                      const std::string& name) {
  std::map<std::string, std::string> options;
  for (const auto& [key, values] : settings.all())
    if (key.starts_with(name + "."))
      options[key.substr(name.size() + 1)] = config::value_text(values.front());
  return options;
}

}  // namespace

std::string use_samplers(const config::Case& c, const EngineDirectory& plugins, pass::PassSpec& pass) {
  std::string unavailable;
  for (const auto& name : c.settings.texts("sampler")) {
    if (name == config::kNoSampler) continue;
    const auto home = plugins.find(plugin::Role::kSampler, name);
    if (home.file.empty()) unavailable = home.unavailable;
    pass.plugins.push_back(
        {plugin::Role::kSampler, name, home.file.string(), options_of_sampler(c.settings, name)});
  }
  return unavailable;
}

void watch(config::Case& c, const EngineDirectory& plugins, Meters meters) {
  if (c.settings.has("sampler")) return;
  std::vector<std::string> names;
  for (const auto& [wanted, name] :
       {std::pair(meters.gpus, result::kDeviceSampler), std::pair(meters.cpus, result::kCpuSampler)})
    if (wanted && !plugins.find(plugin::Role::kSampler, std::string(name)).file.empty())
      names.emplace_back(name);
  if (!names.empty()) config::set_samplers(c.settings, c.kind, names);
}

}  // namespace paceline::run
