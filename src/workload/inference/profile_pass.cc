// SPDX-License-Identifier: MIT
#include "workload/inference/profile_pass.h"

#include <algorithm>

#include "host/machine/affinity.h"

namespace paceline::workload {
namespace {

result::LayerRow row_of(const plugin::Layer& layer) {
  const auto time = layer.time_ns ? Number(*layer.time_ns) : Number::missing("the engine reported no time");
  return {layer.name, layer.type, layer.precision, layer.model_layer, time, {}};
}

struct Profiles {
  std::vector<std::vector<result::LayerRow>> layers;
  std::string source;
};

// Divides the inferences among several profiles: engines that open a session for each have another layout of
// memory each time, as processes have.
Profiles profiles_of(plugin::Engine& engine, int inferences) {
  const int count = std::min(inferences, result::kLayerProfiles);
  Profiles all;
  for (int i = 0; i < count; ++i) {
    const auto times = engine.profile(0, inferences / count + (i < inferences % count ? 1 : 0));
    auto& rows = all.layers.emplace_back();
    for (const auto& layer : times.layers) rows.push_back(row_of(layer));
    all.source = times.source;
  }
  return all;
}

}  // namespace

void run_profile_pass(const pass::PassSpec& spec, TaggedSink& sink) {
  if (!spec.pin_cpus.empty()) host::pin_process(spec.pin_cpus);
  auto loaded = load_engine(spec, sink);
  sink.phase("profile");
  Inputs inputs(spec, 0, 1);
  const auto batch = inputs.batch(0);
  for (int i = 0; i < 3; ++i) infer(*loaded.engine, batch);  // touches memory, lets graphs specialise
  const int inferences = std::get<pass::ProfileLayers>(spec.task).inferences;
  const auto profiles = profiles_of(*loaded.engine, inferences);
  sink.emit(pass::layers_record({result::merged_profiles(profiles.layers), profiles.source, inferences}));
  sink.phase(kUnload);
}

}  // namespace paceline::workload
