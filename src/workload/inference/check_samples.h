// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "plugin/engine.h"
#include "result/case_result.h"
#include "workload/inference/compared_outputs.h"
#include "workload/inference/pass_parts.h"
#include "workload/pass.h"

// The sample inputs through an engine, and what becomes of the outputs.
namespace paceline::workload {

// Finds inputs that came before: they are no further observation.
class DistinctSamples {
 public:
  // The samples of one batch.
  void add(const Inputs& inputs, std::int64_t index, std::int64_t batch);
  [[nodiscard]] const std::vector<std::int64_t>& first() const { return first_; }  // indices, in order
  [[nodiscard]] bool all() const { return static_cast<std::int64_t>(first_.size()) == seen_; }

 private:
  std::set<std::uint64_t> hashes_;
  std::vector<std::int64_t> first_;
  std::int64_t seen_ = 0;
};

struct SampleRun {
  ComparedOutputs outputs;
  DistinctSamples distinct;
  std::unique_ptr<Inputs> bound;  // the last batch: an engine may look at its inputs until others are bound
};

// Every sample of the pass, batch by batch; two batches of inputs in memory at a time.
SampleRun run_samples(const PassSpec& spec, plugin::Engine& engine);

// The outputs of all samples against the reference of the pass, and its question about accuracy. Inputs that
// were seen before are left out, on both sides and with their labels.
result::Correctness check_samples(const PassSpec& spec, const SampleRun& run);

}  // namespace paceline::workload
