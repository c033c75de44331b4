// SPDX-License-Identifier: MIT
#include "workload/inference/lanes.h"

#include <fmt/format.h>

namespace paceline::workload {

Lanes::Lanes(const PassSpec& spec, TaggedSink& sink)
    : inputs_(spec, 0, 1),
      others_(static_cast<std::size_t>(spec.load.concurrency)),
      lanes_(static_cast<std::size_t>(spec.load.concurrency)),
      crew_(static_cast<int>(spec.load.concurrency)) {
  for (int next = 0; next < crew_.size(); ++next)  // one after the other: loading has threads of its own
    crew_.run([&](int lane) {
      if (lane == next) load(lane, spec, sink);
    });
}

void Lanes::load(int lane, const PassSpec& spec, TaggedSink& sink) {
  Lane& mine = lanes_[static_cast<std::size_t>(lane)];
  if (lane == 0) {
    first_ = load_engine(spec, sink);
    mine.engine = first_.engine.get();
  } else {
    auto& engine = others_[static_cast<std::size_t>(lane)];
    engine = plugin::LoadedPlugin(spec.plugin_file).make_engine(spec.engine);
    engine->load(spec.model, spec.settings);
    mine.engine = engine.get();
  }
  mine.inputs = inputs_.batch(0);
  mine.engine->bind(0, mine.inputs);
}

void Lanes::infer(int lane) {
  Lane& mine = lanes_[static_cast<std::size_t>(lane)];
  mine.engine->enqueue(0);
  mine.outputs = mine.engine->synchronize(0);
}

result::Correctness Lanes::check(const PassSpec& spec) const {
  result::Correctness worst;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].outputs.empty()) continue;
    auto found = verify_outputs(spec, lanes_[lane].outputs);
    const bool bad = found.checked && !found.passed;
    if (bad && lanes_.size() > 1) found.detail += fmt::format(" (lane {} of {})", lane + 1, lanes_.size());
    if (lane == 0 || bad) worst = std::move(found);
    if (bad) break;
  }
  return worst;
}

}  // namespace paceline::workload
