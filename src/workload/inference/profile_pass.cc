// SPDX-License-Identifier: MIT
#include "workload/inference/profile_pass.h"

#include "host/machine/affinity.h"

namespace paceline::workload {
namespace {

result::LayerRow row_of(const plugin::Layer& layer) {
  const auto time = layer.time_ns ? Number(*layer.time_ns) : Number::missing("the engine reported no time");
  return {layer.name, layer.type, layer.precision, layer.model_layer, time, {}};
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
  const auto times = loaded.engine->profile(0, inferences);
  std::vector<result::LayerRow> rows;
  for (const auto& layer : times.layers) rows.push_back(row_of(layer));
  sink.emit(pass::layers_record({rows, times.source, inferences}));
  sink.phase(kUnload);
}

}  // namespace paceline::workload
