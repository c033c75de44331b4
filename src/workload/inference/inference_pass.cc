// SPDX-License-Identifier: MIT
#include "workload/inference/inference_pass.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/npy.h"
#include "base/units.h"
#include "host/affinity.h"
#include "host/noise.h"
#include "host/process_clock.h"
#include "measure/timed_loop.h"
#include "workload/inference/between_samples.h"
#include "workload/inference/check_samples.h"
#include "workload/inference/feedback.h"
#include "workload/inference/fresh_answers.h"
#include "workload/inference/load_pass.h"
#include "workload/inference/pass_parts.h"
#include "workload/inference/profile_pass.h"
#include "workload/precision_limits.h"

namespace paceline::workload {
namespace {

// Time from process start to the end of a first small inference; a plug-in that does not know the model has
// none.
result::Number time_to_first_op(const plugin::LoadedPlugin& plugin, const PassSpec& spec, TaggedSink& sink) {
  try {
    sink.phase("first_inference");
    const auto engine = plugin.make_engine(plugin.description().engines.front().name);
    engine->load(spec.model, spec.settings);
    std::vector<Tensor> inputs;
    std::vector<TensorView> views;
    for (const auto& input : spec.model.inputs) inputs.emplace_back(input);
    for (auto& input : inputs) views.push_back(input.view());
    infer(*engine, views);
    const auto took = host::since_process_start_ns();
    sink.phase(kUnload);
    return took;
  } catch (const Error& e) {
    return result::Number::missing(e.what());
  }
}

void describe(const PassSpec& spec, TaggedSink& sink) {
  sink.phase("load");
  const plugin::LoadedPlugin plugin(spec.plugin_file);
  std::vector<std::string> engines;
  for (const auto& entry : plugin.description().engines) engines.emplace_back(entry.name);
  sink.phase("versions");
  sink.emit(loaded_record(plugin.description().versions(), {}));
  sink.emit(describe_record(engines, engines.empty() ? result::Number::missing("no engine")
                                                     : time_to_first_op(plugin, spec, sink)));
}

void inspect(const PassSpec& spec, TaggedSink& sink) {
  sink.phase("load");
  const plugin::LoadedPlugin plugin(spec.plugin_file);
  const auto engine = plugin.make_engine(spec.engine);
  sink.phase("inspect");
  sink.emit(file_inputs_record(engine->file_inputs(spec.model.file)));
  sink.phase(kUnload);
}

void reference(const PassSpec& spec, TaggedSink& sink) {
  auto loaded = load_engine(spec, sink);
  sink.phase("reference");
  const auto run = run_samples(spec, *loaded.engine);
  write_reference(spec.reference_file, run.outputs);
  sink.phase(kUnload);
}

void check(const PassSpec& spec, TaggedSink& sink) {
  auto loaded = load_engine(spec, sink);
  sink.phase("check");
  const auto run = run_samples(spec, *loaded.engine);
  Inputs inputs(spec, 0, 1);
  const auto first = inputs.batch(0);
  if (!spec.feedback.empty())
    Feedback(spec.feedback, first, infer(*loaded.engine, first));  // refuses what is wrong
  loaded.engine->bind(0, first);
  const auto read = loaded.engine->read_back(0);
  require_plausible(read);
  result::PrecisionReadBack precision{spec.settings.precision, {}, read.source};
  for (const auto& share : read.precisions)
    precision.executed.push_back({share.precision, share.flops_share, share.operators});
  PassSpec judged = spec;
  use_limits(judged, dominant_precision(precision));
  const auto correctness = check_samples(judged, run);
  const auto peak = read.peak_tensor_bytes ? result::Count(*read.peak_tensor_bytes)
                                           : result::Count::missing("this engine cannot tell");
  const auto flops = read.flops ? result::Number(*read.flops / static_cast<double>(spec.batch))
                                : result::Number::missing("this engine cannot tell");
  const auto reserved = read.peak_reserved_bytes ? result::Count(*read.peak_reserved_bytes) : result::Count();
  sink.emit(check_record(correctness, precision, peak, reserved, flops));
  sink.phase(kUnload);
}

// `device`: one a sample; a batch of iterations has none.
std::vector<result::Sample> to_samples(const PassSpec& spec, const measure::LoopResult& loop,
                                       const std::vector<std::optional<std::int64_t>>& device) {
  const auto durations = loop.samples_ns();
  std::vector<result::Sample> samples;
  for (std::size_t i = 0; i < loop.samples.size(); ++i) {
    result::Sample s;
    s.repetition = static_cast<std::int32_t>(spec.repetition);
    s.rank = static_cast<std::int32_t>(spec.rank);
    s.index = static_cast<std::int64_t>(i);
    s.start_ns = loop.samples[i].start_ns;
    s.host_ns = std::llround(durations[i]);
    if (loop.batch == 1) s.device_ns = device[i];
    s.flags = loop.batch > 1 ? result::kSampleBatched : 0U;
    samples.push_back(s);
  }
  return samples;
}

void timed(const PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt) {
  result::Repetition r;
  r.index = spec.repetition;
  r.process_start_ns = host::since_process_start_ns();
  r.started_utc = format_utc(std::time(nullptr));
  if (!spec.pin_cpus.empty()) host::pin_process(spec.pin_cpus);
  const SteadyClock clock;
  sink.phase("calibrate");
  const auto start = measure::calibrate(clock);
  auto loaded = load_engine(spec, sink);
  r.load_ns = loaded.load_ns;

  Inputs inputs(spec, 0, 1);  // not those it does not use: they would count as memory of the case
  const auto batch = inputs.batch(0);
  plugin::Engine& engine = *loaded.engine;
  Feedback feedback(spec.feedback, batch,
                    spec.feedback.empty() ? std::span<const TensorView>() : infer(engine, batch));
  engine.bind(0, batch);
  std::span<const TensorView> outputs;
  const auto body = [&] {
    engine.enqueue(0);
    outputs = engine.synchronize(0);
  };
  sink.phase("measure");
  std::vector<host::NoiseSnapshot> snapshots;
  const auto snapshot = [&] { snapshots.push_back(host::take_snapshot()); };
  measure::AloneDecider decider(spec.loop.warmup, spec.loop.stop, spec.loop.iterations);
  const auto feed = [&] {
    if (!outputs.empty()) engine.bind(0, feedback.next(readable(engine, outputs)));
  };
  BetweenSamples between(engine, spec.cache_mode == "cold",
                         feedback.empty() ? std::function<void()>() : feed);
  const measure::LoopHooks hooks{
      between.hook(), [&](const measure::Progress& p) { sink.emit(progress_record(to_progress(p))); },
      snapshot, snapshot, &interrupt};
  const auto loop = measure::run_timed_loop(clock, body, spec.loop, start.timer, decider, hooks);
  if (interrupt || loop.samples.empty()) return;
  const auto device_times = between.take_times(loop.samples.size());
  finish_memory(loaded.memory);

  sink.phase("verify");
  if (!feedback.empty())
    outputs = infer(engine, batch);  // what is compared are the answers to the first inputs
  const double typical_ns = stats::median(loop.samples_ns());
  sink.emit(correctness_record(verify_answers(spec, engine, {outputs, batch, typical_ns})));
  fill_loop(r, spec.loop, loop);
  r.memory = loaded.memory;
  r.noise = host::noise_over(snapshots);
  r.foreign_cpu_frac = r.noise.foreign_cpu_frac;
  r.overhead = overhead_of(start, measure::calibrate(clock), typical_ns * static_cast<double>(loop.batch));
  sink.emit(samples_record(to_samples(spec, loop, device_times)));
  sink.emit(repetition_record(r));
  sink.phase(kUnload);
}

}  // namespace

void run_inference_pass(const PassSpec& spec, RecordSink& raw, const std::atomic<bool>& interrupt) {
  TaggedSink sink(raw, spec);
  switch (spec.kind) {
    case PassKind::kDescribe:
      return describe(spec, sink);
    case PassKind::kInspect:
      return inspect(spec, sink);
    case PassKind::kReference:
      return reference(spec, sink);
    case PassKind::kCheck:
      return check(spec, sink);
    case PassKind::kTimed:
      return spec.load.scenario == kSync ? timed(spec, sink, interrupt)
                                         : run_load_pass(spec, sink, interrupt);
    case PassKind::kProfile:
      return run_profile_pass(spec, sink);
    case PassKind::kInputs:
    case PassKind::kExpected:
    case PassKind::kExport:
    case PassKind::kQuantise:
    case PassKind::kBuild:
    case PassKind::kTrain:
    case PassKind::kTrainProfile:
    case PassKind::kStore:
      throw Error(ErrorCode::kInternal, "a pass of another kind is no inference");
  }
}

}  // namespace paceline::workload
