// SPDX-License-Identifier: MIT
#include "workload/inference/pass_parts.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/npy.h"
#include "host/machine/heap.h"
#include "host/machine/memory.h"
#include "pass/input_layout.h"
#include "workload/inference/gate/accuracy_gate.h"
#include "workload/inference/gate/compared_outputs.h"

namespace paceline::workload {
namespace {

// The message names server.max_batch, because the model may take the smaller batch that the user asked for.
void load_model(plugin::Engine& engine, const pass::PassSpec& spec) {
  try {
    engine.load(spec.model, spec.settings);
  } catch (const Error& e) {
    if (spec.inference.load.max_batch <= 1 || spec.model.inputs.empty()) throw;
    throw Error(e.code(), fmt::format("{} (server.max_batch {} loads the model for batches of {})", e.what(),
                                      spec.inference.load.max_batch, spec.model.inputs.front().shape.at(0)));
  }
}

std::vector<Tensor> read_stored(const pass::PassSpec& spec, FirstSample first, std::int64_t batches) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < spec.inference.input_files.size(); ++i) {
    const bool same_for_all = pass::batch_dimension_of(spec.inference.batch_dimensions, i) == pass::kNoBatch;
    tensors.push_back(read_npy_samples(spec.inference.input_files[i], same_for_all ? 0 : first.index,
                                       same_for_all ? 1 : batches * spec.batch));
    if (i < spec.model.inputs.size()) tensors.back().rename(spec.model.inputs[i].name);
  }
  return tensors;
}

}  // namespace

Inputs::Inputs(const pass::PassSpec& spec, std::int64_t first_batch, FirstSample first, std::int64_t batches)
    : first_batch_(first_batch),
      batches_(read_stored(spec, first, batches), spec.inference.batch_dimensions, spec.batch) {}

LoadedEngine load_engine(const pass::PassSpec& spec, TaggedSink& sink) {
  sink.phase(pass::kLoadPhase);
  const std::string heap = host::keep_freed_memory();
  const plugin::LoadedPlugin plugin(spec.plugin(plugin::Role::kEngine).file);
  LoadedEngine loaded{plugin.make<plugin::Role::kEngine>(spec.engine()), 0, {}};
  // The libraries are loaded, the model is not: memory counts as the case's from here on.
  host::reset_rss_peak();
  loaded.memory.rss_before_load_bytes = host::process_memory().rss_bytes;
  loaded.memory.shared_before_load_bytes = host::process_memory().shared_bytes;
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  load_model(*loaded.engine, spec);
  loaded.load_ns = static_cast<double>(clock.now_ns() - begin);
  auto info = loaded.engine->info();
  info.settings.emplace_back("heap", heap);
  sink.emit(pass::loaded_record(info.versions, info.settings));
  return loaded;
}

std::span<const TensorView> readable(plugin::Engine& engine, std::span<const TensorView> synchronized) {
  return synchronized.empty() ? engine.fetch_outputs(0) : synchronized;
}

std::span<const TensorView> infer(plugin::Engine& engine, std::span<const TensorView> inputs) {
  engine.bind(0, inputs);
  engine.enqueue(0);
  return readable(engine, engine.synchronize(0));
}

result::Correctness verify_outputs(const pass::PassSpec& spec, std::span<const TensorView> outputs,
                                   FirstSample first) {
  const auto& asked = spec.inference;
  ComparedOutputs all;
  append_outputs(all, outputs, spec.batch, asked.samples);
  if (asked.reference_file.empty()) return judge_all(all, nullptr, asked.tolerance, {});
  const auto reference = read_reference(asked.reference_file, first.index, spec.batch);
  auto correctness = compare_all(all, reference, asked.output_tolerances, asked.tolerance);
  correctness.reference = asked.reference_name;
  return correctness;
}

}  // namespace paceline::workload
