// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "pass/pass.h"
#include "plugin/engine.h"
#include "plugin/registry.h"
#include "workload/inference/batched_inputs.h"
#include "workload/pass_records.h"

// Parts of every pass that drives an engine, whichever way work arrives.
namespace paceline::workload {

struct FirstSample {
  std::int64_t index = 0;
};

// Some batches of a pass's sample inputs, and views of one at a time.
class Inputs {
 public:
  explicit Inputs(const pass::PassSpec& spec) : Inputs(spec, 0, spec.inference.samples / spec.batch) {}
  Inputs(const pass::PassSpec& spec, std::int64_t first_batch, std::int64_t batches)
      : Inputs(spec, first_batch, FirstSample{first_batch * spec.batch}, batches) {}
  // One batch, numbered 0, that begins with any sample.
  Inputs(const pass::PassSpec& spec, FirstSample first) : Inputs(spec, 0, first, 1) {}
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;
  // One of the batches read. Views stay valid as long as the object; may be called from several threads.
  [[nodiscard]] std::vector<TensorView> batch(std::int64_t index) const {
    return batches_.views(index - first_batch_);
  }
  [[nodiscard]] std::uint64_t sample_hash(std::int64_t index, std::int64_t sample) const {
    return batches_.sample_hash(index - first_batch_, sample);
  }

 private:
  Inputs(const pass::PassSpec& spec, std::int64_t first_batch, FirstSample first, std::int64_t batches);

  std::int64_t first_batch_;
  BatchedInputs batches_;
};

struct LoadedEngine {
  std::unique_ptr<plugin::Engine> engine;
  double load_ns = 0;
  result::Memory memory;  // rss before load
};

// Loads the plug-in and the model, and reports libraries and effective settings.
LoadedEngine load_engine(const pass::PassSpec& spec, TaggedSink& sink);

// The outputs that synchronize returned, else those the engine left on its device, copied to the host. Not to
// be called inside what is timed.
std::span<const TensorView> readable(plugin::Engine& engine, std::span<const TensorView> synchronized);

// Makes one inference on slot 0 and returns outputs that the host can read.
std::span<const TensorView> infer(plugin::Engine& engine, std::span<const TensorView> inputs);

// Verifies that what was timed is what was checked: compares the outputs of one batch with the reference for
// the samples that start at `first`.
result::Correctness verify_outputs(const pass::PassSpec& spec, std::span<const TensorView> outputs,
                                   FirstSample first = {});

}  // namespace paceline::workload
