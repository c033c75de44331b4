// SPDX-License-Identifier: MIT
#include "run/artefacts/stages.h"

#include "pass/input_layout.h"
#include "run/case/short_hash.h"

namespace paceline::run {
namespace {

std::string written_file(const pass::PassSpec& pass) {
  if (const auto* to = std::get_if<pass::ExportTo>(&pass.task)) return to->file;
  if (const auto* to = std::get_if<pass::QuantiseTo>(&pass.task)) return to->file;
  if (const auto* to = std::get_if<pass::InputsTo>(&pass.task)) return to->prefix;
  if (const auto* to = std::get_if<pass::ExpectedTo>(&pass.task)) return to->file;
  return pass.inference.reference_file;
}

}  // namespace

Target written_by(const pass::PassSpec& pass, const PreparePass& run, std::vector<Target> inputs) {
  return {written_file(pass), std::move(inputs), [pass, run] {
            auto outcome = run(pass);
            if (!outcome.ok) throw PassFailure(pass.kind, outcome);
            return std::move(outcome.report);
          }};
}

pass::PassSpec export_pass(const pass::PassSpec& base, const std::string& format) {
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kExport;
  pass.case_id = base.case_id;
  pass.model = base.model;
  pass.task = pass::ExportTo{format, {}, {}};
  pass.batch = base.batch;
  for (auto& input : pass.model.inputs) input.shape.at(0) = 1;
  return pass;
}

std::string model_file_key(const pass::PassSpec& pass) {
  const auto json = pass::to_json(pass);
  return short_hash({json.at("model"), json.at("export_to")});
}

pass::PassSpec inputs_pass(const pass::InputsTo& to) {
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kInputs;
  pass.task = to;
  return pass;
}

std::vector<std::string> files_of(const pass::InputsTo& to) {
  return pass::input_file_names(to.prefix, to.request.specs.size());
}

pass::PassSpec expected_pass(const pass::ExpectedTo& to, std::int64_t samples) {
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kExpected;
  pass.task = to;
  pass.inference.samples = samples;
  return pass;
}

pass::PassSpec reference_alone(const pass::PassSpec& reference) {
  pass::PassSpec pass = reference;
  auto& alone = pass.inference;
  const auto& question = reference.inference.accuracy;
  alone.accuracy = {};
  alone.accuracy.least_samples = question.least_samples;
  alone.accuracy.yardsticks = question.yardsticks;
  alone.accuracy.unit_only = question.unit_only;
  alone.accuracy.every_change = question.every_change;
  alone.tolerance = {};
  alone.output_tolerances.clear();
  alone.limits.clear();
  alone.cache_mode = pass::InferenceSpec{}.cache_mode;
  alone.gap_ns = pass::kNoGap;
  alone.new_shapes.clear();
  pass.model.any_batch = pass.model.any_shape = false;
  alone.feedback.clear();
  alone.reference_name.clear();
  pass.loop = {};
  pass.pin_cpus.clear();
  return pass;
}

}  // namespace paceline::run
