// SPDX-License-Identifier: MIT
#include "workload/inference/check_samples.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "workload/inference/accuracy.h"
#include "workload/inference/accuracy_gate.h"
#include "workload/inference/output_dump.h"

namespace paceline::workload {
namespace {

pass::AccuracyQuestion question_of(const pass::PassSpec& spec, const DistinctSamples& distinct) {
  pass::AccuracyQuestion question = spec.accuracy;
  question.labels.clear();
  if (spec.accuracy.labels.empty()) return question;
  for (const auto index : distinct.first())
    question.labels.push_back(spec.accuracy.labels.at(static_cast<std::size_t>(index)));
  return question;
}

// Expected outputs of another shape are a mistake in the file, not in the engine.
std::optional<ComparedOutputs> reference_for(const pass::PassSpec& spec, const ComparedOutputs& outputs) {
  if (spec.reference_file.empty()) return std::nullopt;
  auto all = read_reference(spec.reference_file, 0, spec.samples);
  for (std::size_t i = 0; !spec.accuracy.expected_file.empty() && i < outputs.size(); ++i) {
    const ComparedRows* reference = reference_of(all, outputs, i);
    if (reference && outputs[i].left_out.empty() && !same_shape(outputs[i].rows, *reference))
      throw Error(
          ErrorCode::kData,
          fmt::format("accuracy_reference '{}' holds {} (inputs, rows, length), the model gives {}",
                      spec.accuracy.expected_file, shape_text(*reference), shape_text(outputs[i].rows)));
  }
  return all;
}

}  // namespace

void DistinctSamples::add(const Inputs& inputs, std::int64_t index, std::int64_t batch) {
  for (std::int64_t s = 0; s < batch; ++s, ++seen_)
    if (hashes_.insert(inputs.sample_hash(index, s)).second) first_.push_back(seen_);
}

SampleRun run_samples(const pass::PassSpec& spec, plugin::Engine& engine) {
  SampleRun run;
  for (std::int64_t b = 0; b < spec.samples / spec.batch; ++b) {
    auto inputs = std::make_unique<Inputs>(spec, b, 1);
    run.distinct.add(*inputs, b, spec.batch);
    const auto views = inputs->batch(b);
    const auto outputs = infer(engine, views);
    append_outputs(run.outputs, outputs, spec.batch, spec.samples);
    if (!spec.dump_folder.empty()) dump_batch(spec.dump_folder, b, views, outputs);
    run.bound = std::move(inputs);
  }
  return run;
}

result::Correctness check_samples(const pass::PassSpec& spec, const SampleRun& run) {
  const auto& distinct = run.distinct;
  auto reference = reference_for(spec, run.outputs);
  const auto question = question_of(spec, distinct);
  const auto judged = [&](const ComparedOutputs& outputs) {
    auto c = judge_all(outputs, reference ? &*reference : nullptr, spec.tolerance, question);
    c.reference = spec.reference_name;
    return c;
  };
  if (distinct.all()) return judged(run.outputs);
  if (reference) reference = select_samples(*reference, distinct.first());
  return judged(select_samples(run.outputs, distinct.first()));
}

}  // namespace paceline::workload
