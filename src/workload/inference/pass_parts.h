// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "plugin/engine.h"
#include "plugin/registry.h"
#include "workload/inference/batched_inputs.h"
#include "workload/pass.h"
#include "workload/pass_records.h"

// What every pass that drives an engine is made of, whichever way work arrives.
namespace paceline::workload {

struct FirstSample {
  std::int64_t index = 0;
};

// Some batches of a pass's sample inputs, and views of one at a time.
class Inputs {
 public:
  explicit Inputs(const PassSpec& spec) : Inputs(spec, 0, spec.samples / spec.batch) {}
  Inputs(const PassSpec& spec, std::int64_t first_batch, std::int64_t batches)
      : Inputs(spec, first_batch, FirstSample{first_batch * spec.batch}, batches) {}
  // One batch, number 0, that begins with any sample.
  Inputs(const PassSpec& spec, FirstSample first) : Inputs(spec, 0, first, 1) {}
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;
  // One of those read. Views stay valid as long as the object; several threads may ask.
  [[nodiscard]] std::vector<TensorView> batch(std::int64_t index) const {
    return batches_.views(index - first_batch_);
  }
  [[nodiscard]] std::uint64_t sample_hash(std::int64_t index, std::int64_t sample) const {
    return batches_.sample_hash(index - first_batch_, sample);
  }

 private:
  Inputs(const PassSpec& spec, std::int64_t first_batch, FirstSample first, std::int64_t batches);

  std::int64_t first_batch_;
  BatchedInputs batches_;
};

struct LoadedEngine {
  std::unique_ptr<plugin::Engine> engine;
  double load_ns = 0;
  result::Memory memory;  // rss before load
};

// Loads the plug-in and the model, and says which libraries and settings it got.
LoadedEngine load_engine(const PassSpec& spec, TaggedSink& sink);

// What synchronize returned; where that is nothing, what the engine left on its device. Outside what is
// timed.
std::span<const TensorView> readable(plugin::Engine& engine, std::span<const TensorView> synchronized);

// One inference on slot 0, with outputs that the host can read.
std::span<const TensorView> infer(plugin::Engine& engine, std::span<const TensorView> inputs);

// What was timed is what was checked: outputs of one batch of the inputs against the reference's for the
// samples from this one on.
result::Correctness verify_outputs(const PassSpec& spec, std::span<const TensorView> outputs,
                                   FirstSample first = {});

}  // namespace paceline::workload
