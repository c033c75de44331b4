// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "pass/pass.h"
#include "plugin/engine.h"
#include "result/stored/case_result.h"
#include "workload/inference/gate/compared_outputs.h"
#include "workload/inference/pass_parts.h"

// Runs the sample inputs through an engine, and keeps or compares the outputs.
namespace paceline::workload {

// Finds samples that repeat earlier ones, which are no further observations.
class DistinctSamples {
 public:
  // The samples of one batch.
  void add(const Inputs& inputs, std::int64_t index, std::int64_t batch);
  [[nodiscard]] const std::vector<std::int64_t>& first() const { return first_; }  // indices, in order
  [[nodiscard]] bool all() const { return static_cast<std::int64_t>(first_.size()) == seen_; }
  // SHA-256 of the distinct samples and their labels, one per distinct sample.
  [[nodiscard]] std::string sha256_with(std::span<const std::int64_t> labels) const;

 private:
  std::set<std::uint64_t> hashes_;
  std::vector<std::uint64_t> first_hashes_;
  std::vector<std::int64_t> first_;
  std::int64_t seen_ = 0;
};

struct SampleRun {
  ComparedOutputs outputs;
  DistinctSamples distinct;
  std::unique_ptr<Inputs> bound;  // the last batch: an engine may look at its inputs until others are bound
};

// Runs every sample of the pass batch by batch, with at most two batches of inputs in memory. A reference,
// or a check without one, that may stop early (accuracy.least_samples) stops once it has taken `patience_ns`.
SampleRun run_samples(const pass::PassSpec& spec, plugin::Engine& engine, double patience_ns = 0.7e9);

// The user's inputs beyond those that are compared.
struct OtherInputs {
  std::int64_t ran = 0;
  std::int64_t not_finite = -1;  // index of the first whose output contains NaN or infinity; below 0: none
};
// Runs them once, for `patience_ns` at most; several batches are not looked at after the first that is wrong.
OtherInputs run_other_inputs(const pass::PassSpec& spec, plugin::Engine& engine, double patience_ns = 10e9);
// Adds to `c` how many inputs there were, and fails it for one that is not finite.
void add_other_inputs(result::Correctness& c, const pass::InferenceSpec& spec, const OtherInputs& others);

// Compares the outputs of all samples with the reference of the pass and answers its question about accuracy.
// Repeated samples are left out on both sides, with their labels.
result::Correctness check_samples(const pass::PassSpec& spec, const SampleRun& run);

}  // namespace paceline::workload
