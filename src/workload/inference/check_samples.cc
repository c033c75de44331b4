// SPDX-License-Identifier: MIT
#include "workload/inference/check_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/half.h"
#include "base/npy.h"
#include "base/sha256.h"
#include "base/tensor.h"
#include "pass/input_layout.h"
#include "result/judged/reference.h"
#include "workload/inference/gate/accuracy.h"
#include "workload/inference/gate/accuracy_gate.h"
#include "workload/inference/gate/compared_rows.h"
#include "workload/inference/gate/output_errors.h"
#include "workload/inference/gate/output_units.h"

namespace paceline::workload {
namespace {

constexpr double kConfirmedBelow = 5;  // units of the yardstick, as for fp32
constexpr double kOfOutput = 0.02;     // what an engine may differ in 8 bits, of what depends on the input

Tensor widened(const TensorView& view) {
  Tensor tensor({view.name, DType::kFloat32, view.shape});
  auto* const to = tensor.as<float>();
  const auto* const from = static_cast<const std::byte*>(view.data);
  for (std::int64_t i = 0; i < element_count(view.shape); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from + static_cast<std::size_t>(i) * sizeof bits, sizeof bits);
    to[i] = bfloat16_to_float(bits);
  }
  return tensor;
}

bool is_taken(const std::vector<TensorView>& views, const std::string& name) {
  return std::any_of(views.begin(), views.end(), [&](const auto& view) { return view.name == name; });
}

void write_all(const std::filesystem::path& file, std::span<const TensorView> tensors, const char* nameless) {
  std::vector<TensorView> views;
  std::list<Tensor> converted;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_contiguous(tensors[i]))
      throw Error(ErrorCode::kData,
                  fmt::format("'{}' is not contiguous and cannot be dumped", tensors[i].name));
    TensorView view = tensors[i];
    if (view.name.empty() || is_taken(views, view.name)) view.name = fmt::format("{}{}", nameless, i);
    if (view.dtype == DType::kBFloat16) view = converted.emplace_back(widened(view)).view();
    views.push_back(std::move(view));
  }
  write_npz(file, views);
}

// Removes files of an earlier dump, which may be longer or of another model.
void remove_earlier(const std::filesystem::path& folder) {
  for (const char* what : {"inputs", "outputs"}) {
    std::error_code error;
    for (std::int64_t batch = 0;
         std::filesystem::remove(folder / fmt::format("{}-{}.npz", what, batch), error);)
      ++batch;
  }
}

// Writes inputs-<batch>.npz and outputs-<batch>.npz into `folder`, which is made where it is missing and
// loses earlier files of these names with batch 0: arrays under the tensors' names (output<i> where one has
// none), bfloat16 as float32, which NumPy has. Throws Error(kIo), and Error(kData) for an output that is no
// contiguous memory.
void dump_batch(const std::filesystem::path& folder, std::int64_t batch, std::span<const TensorView> inputs,
                std::span<const TensorView> outputs) {
  std::error_code error;
  check_own_name(folder);
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::kIo, fmt::format("cannot make the folder '{}' for outputs: {}",
                                            shown_path(folder.string()), error.message()));
  if (batch == 0) remove_earlier(folder);
  write_all(folder / fmt::format("inputs-{}.npz", batch), inputs, "input");
  write_all(folder / fmt::format("outputs-{}.npz", batch), outputs, "output");
}

pass::AccuracyQuestion question_of(const pass::InferenceSpec& spec, const DistinctSamples& distinct) {
  pass::AccuracyQuestion question = spec.accuracy;
  question.labels.clear();
  if (spec.accuracy.labels.empty()) return question;
  for (const auto index : distinct.first())
    question.labels.push_back(spec.accuracy.labels.at(static_cast<std::size_t>(index)));
  return question;
}

// Expected outputs of another shape are a mistake in the file, not in the engine.
std::optional<ComparedOutputs> reference_for(const pass::InferenceSpec& spec,
                                             const ComparedOutputs& outputs) {
  if (spec.reference_file.empty()) return std::nullopt;
  auto all = read_reference(spec.reference_file, 0, spec.samples);
  for (std::size_t i = 0; !spec.accuracy.expected_file.empty() && i < outputs.size(); ++i) {
    const ComparedRows* reference = reference_of(all, outputs, i);
    if (reference && outputs[i].left_out.empty() && !same_shape(outputs[i].rows, *reference))
      throw Error(
          ErrorCode::kData,
          fmt::format("accuracy_reference '{}' contains {} (inputs, rows, length), the model gives {}",
                      spec.accuracy.expected_file, shape_text(*reference), shape_text(outputs[i].rows)));
  }
  return all;
}

// The reference's rows of the samples that count, from another file of reference outputs.
ComparedOutputs beside(const std::string& file, const pass::InferenceSpec& spec,
                       const DistinctSamples& distinct) {
  auto rows = read_reference(file, 0, spec.samples);
  return distinct.all() ? rows : select_samples(rows, distinct.first());
}

// How far another engine's run is from the reference, in the reference's units: the furthest output. None:
// an output differs that has no unit.
std::optional<double> distance_of(const ComparedOutputs& witness, const ComparedOutputs& reference) {
  double furthest = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const auto* rows = reference[i].left_out.empty() ? reference_of(witness, reference, i) : nullptr;
    if (!rows || !same_shape(*rows, reference[i].rows)) continue;
    if (has_unit(reference[i].rows))
      for (const auto& group : units_of(*rows, reference[i].rows,
                                        with_sums_at_once(*reference[i].rows.yardstick), Changes::kLargest))
        furthest = std::max(furthest, group.in_units());
    else if (rms_difference(*rows, reference[i].rows) > 0)
      return std::nullopt;
  }
  return furthest;
}

// Compares the first inputs, which are all that a witness ran.
std::optional<double> witness_distance(const pass::InferenceSpec& spec, const DistinctSamples& distinct,
                                       const ComparedOutputs& reference) {
  const auto ran = read_npy_spec(spec.accuracy.witness_file).shape.at(0);
  const auto witness = read_reference(spec.accuracy.witness_file, 0, ran);
  std::vector<std::int64_t> theirs, ours;  // the same inputs on both sides
  for (const auto sample : distinct.first())
    if (sample < ran) ours.push_back(std::ssize(theirs)), theirs.push_back(sample);
  return distance_of(select_samples(witness, theirs), select_samples(reference, ours));
}

// Outputs are finite, or not, and were compared with nothing.
result::Correctness without_reference(result::Correctness c, const pass::InferenceSpec& spec) {
  if (spec.reference_name.empty()) {
    c.unchecked_because = spec.accuracy.unchecked_because;
    c.reference = "none: " + c.unchecked_because;
  }
  if (c.verdict == answer::Verdict::kNotAsked) c.verdict_because = c.reference;
  return c;
}

void report_subnormals(result::Correctness& c, const ComparedOutputs& reference) {
  double all = 0, subnormal = 0;
  for (const auto& [rows, left_out] : reference) {
    if (!left_out.empty()) continue;
    all += static_cast<double>(rows.values.size());
    subnormal += static_cast<double>(
        std::ranges::count_if(rows.values, [](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }));
    if (rows.yardstick && rows.yardstick->subnormal_weights >= 0)
      c.subnormal_weights = rows.yardstick->subnormal_weights;
  }
  if (all > 0) c.subnormal_outputs = subnormal / all;
}

void judge_independence(result::Correctness& c, const pass::PassSpec& spec, const DistinctSamples& distinct,
                        const ComparedOutputs& reference) {
  const auto& question = spec.inference.accuracy;
  c.independence = question.independence, c.refused_by = question.refused_by;
  if (!question.witness_file.empty()) {
    const auto units = witness_distance(spec.inference, distinct, reference);
    c.independence = units && *units <= kConfirmedBelow
                         ? ""
                         : fmt::format("the reference also ran in {}, and {} differs from it by {}",
                                       spec.engine(), question.witness_name,
                                       units ? fmt::format("{:.2g} times what rounding changes", *units)
                                             : "an error whose limit is not known");
    if (c.independence.empty()) c.reference += ", confirmed by " + question.witness_name;
  }
  if (!c.independence.empty()) c.reference += ", by the engine of the case: no independent check";
}

struct EngineError {
  double error = 0, limit = 0;
  double max_rel_err = 0;
  std::string blind;  // why such an error says nothing; empty: it does
};

// An engine that computes a quantised file right is this close to the file's unoptimised run, or as close as
// rounding lets it be: through many layers a step of eight bits that falls the other way grows. An output
// that hardly depends on the input says nothing as long as its error is small beside the output itself.
EngineError engine_error(const ComparedRows& outputs, const ComparedRows& unoptimised) {
  const double depends = rms_of_what_depends(unoptimised), step = eight_bit_step(unoptimised);
  result::Correctness figures;
  measure_agreement(figures, outputs, unoptimised, "none");
  const double unit =
      has_unit(unoptimised)
          ? overall_units(unoptimised, unoptimised, *unoptimised.yardstick, Changes::kLargest).unit
          : 0;
  EngineError found{rms_difference(outputs, unoptimised),
                    std::max(kOfOutput * depends, kConfirmedBelow * unit),
                    *figures.max_rel_err,
                    {}};
  if (found.error > found.limit && depends < step && found.error <= step)
    found.blind = fmt::format(
        "only {:.2g} of the output depends on the input, less than one step of eight bits "
        "({:.2g})",
        depends, step);
  return found;
}

void engine_is_wrong(result::Correctness& c, const EngineError& found) {
  c.detail += fmt::format(
      "{}the engine is wrong, not the file: its output differs by {:.2g} from {}, more than 2 % of what "
      "depends on the "
      "input and five times what rounding changes ({:.2g}); the largest error is {:.3g} of the largest value",
      c.detail.empty() ? "" : "; ", found.error, c.engine_reference, found.limit, found.max_rel_err);
  c.engine_strays = true;
  c.passed = false;
  c.verdict = answer::Verdict::kNo;
}

// Compares the engine with a quantised file's own unoptimised run.
void judge_engine(result::Correctness& c, const pass::InferenceSpec& spec, const DistinctSamples& distinct,
                  const ComparedOutputs& outputs) {
  if (spec.accuracy.engine_file.empty()) return;
  const auto own = beside(spec.accuracy.engine_file, spec, distinct);
  c.engine_reference = spec.accuracy.engine_name;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto* unoptimised = reference_of(own, outputs, i);
    if (!outputs[i].left_out.empty() || !unoptimised || !same_shape(*unoptimised, outputs[i].rows)) continue;
    const auto found = engine_error(outputs[i].rows, *unoptimised);
    if (!c.engine_max_rel_err || found.max_rel_err > *c.engine_max_rel_err)
      c.engine_max_rel_err = found.max_rel_err;
    if (found.error <= found.limit) continue;
    if (found.blind.empty()) return engine_is_wrong(c, found);
    if (c.verdict == answer::Verdict::kYes)
      c.passed = false, c.verdict = answer::Verdict::kCannotSay, c.verdict_because = found.blind;
  }
}

}  // namespace

void DistinctSamples::add(const Inputs& inputs, std::int64_t index, std::int64_t batch) {
  for (std::int64_t s = 0; s < batch; ++s, ++seen_)
    if (const auto hash = inputs.sample_hash(index, s); hashes_.insert(hash).second)
      first_.push_back(seen_), first_hashes_.push_back(hash);
}

std::string DistinctSamples::sha256_with(std::span<const std::int64_t> labels) const {
  Sha256 hash;
  for (std::size_t i = 0; i < first_hashes_.size(); ++i)
    hash.update(fmt::format("{:x} {}\n", first_hashes_[i], labels[i]));
  return hash.finish_hex();
}

SampleRun run_samples(const pass::PassSpec& spec, plugin::Engine& engine, double patience_ns) {
  SampleRun run;
  const auto& asked = spec.inference;
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  const bool decides = spec.kind == pass::PassKind::kReference || asked.reference_file.empty();
  const auto least = decides ? asked.accuracy.least_samples : 0;
  const auto enough = [&](std::int64_t batches) {
    return least > 0 && batches * spec.batch >= least &&
           static_cast<double>(clock.now_ns() - begin) > patience_ns;
  };
  for (std::int64_t b = 0; b < asked.samples / spec.batch && !enough(b); ++b) {
    auto inputs = std::make_unique<Inputs>(spec, b, 1);
    run.distinct.add(*inputs, b, spec.batch);
    const auto views = inputs->batch(b);
    const auto outputs = infer(engine, views);
    append_outputs(run.outputs, outputs, spec.batch, asked.samples);
    if (!asked.dump_folder.empty()) dump_batch(asked.dump_folder, b, views, outputs);
    run.bound = std::move(inputs);
  }
  return run;
}

namespace {

// Counts in files whose samples differ from each other.
std::int64_t samples_stored(const pass::InferenceSpec& spec) {
  for (std::size_t i = 0; i < spec.input_files.size(); ++i)
    if (pass::batch_dimension_of(spec.batch_dimensions, i) != pass::kNoBatch)
      return read_npy_spec(spec.input_files[i]).shape.at(0);
  return 0;
}

}  // namespace

OtherInputs run_other_inputs(const pass::PassSpec& spec, plugin::Engine& engine, double patience_ns) {
  OtherInputs others;
  if (spec.inference.accuracy.samples_given <= spec.inference.samples) return others;
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  for (std::int64_t b = spec.inference.samples / spec.batch;
       (b + 1) * spec.batch <= samples_stored(spec.inference); ++b) {
    if (static_cast<double>(clock.now_ns() - begin) > patience_ns) break;
    const Inputs inputs(spec, b, 1);
    for (const auto& output : infer(engine, inputs.batch(b)))
      if (const auto at = first_not_finite(output); at >= 0) {
        others.not_finite = b * spec.batch + at * spec.batch / element_count(output.shape);
        break;
      }
    others.ran += spec.batch;
    if (others.not_finite >= 0) break;
  }
  return others;
}

void add_other_inputs(result::Correctness& c, const pass::InferenceSpec& spec, const OtherInputs& others) {
  if (spec.accuracy.samples_given <= 0) return;
  c.samples_given = spec.accuracy.samples_given;
  c.samples_run = std::min(spec.accuracy.samples_given, spec.samples + others.ran);
  if (others.not_finite < 0) return;
  c.checked = true, c.passed = false, c.verdict = answer::Verdict::kNo;
  c.detail += fmt::format("{}the output contains NaN or infinity for input {} of {}",
                          c.detail.empty() ? "" : "; ", others.not_finite + 1, spec.accuracy.samples_given);
}

result::Correctness check_samples(const pass::PassSpec& spec, const SampleRun& run) {
  const auto& asked = spec.inference;
  const auto& distinct = run.distinct;
  auto reference = reference_for(asked, run.outputs);
  const auto question = question_of(asked, distinct);
  const auto judged = [&](const ComparedOutputs& outputs) {
    auto c = judge_all(outputs, reference ? &*reference : nullptr, asked.tolerance, question);
    c.reference = asked.reference_name;
    if (!c.labelled.answers.right_base64.empty())
      c.labelled.answers.inputs_sha256 = distinct.sha256_with(question.labels);
    if (!reference) return without_reference(c, asked);
    report_subnormals(c, *reference);
    judge_independence(c, spec, distinct, *reference);
    judge_engine(c, asked, distinct, outputs);
    return c;
  };
  if (distinct.all()) return judged(run.outputs);
  if (reference) reference = select_samples(*reference, distinct.first());
  return judged(select_samples(run.outputs, distinct.first()));
}

}  // namespace paceline::workload
