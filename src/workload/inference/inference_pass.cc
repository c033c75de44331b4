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
#include "host/heap.h"
#include "host/memory.h"
#include "host/noise.h"
#include "host/process_clock.h"
#include "measure/calibration.h"
#include "measure/timed_loop.h"
#include "plugin/registry.h"
#include "workload/inference/accuracy.h"

namespace paceline::workload {
namespace {

// Tags every record with where it comes from.
class TaggedSink {
 public:
  TaggedSink(RecordSink& sink, const PassSpec& spec) : sink_(sink), spec_(spec) {}
  void emit(nlohmann::json record) {
    record["rank"] = spec_.rank;
    record["repetition"] = spec_.repetition;
    sink_.emit(record);
  }
  void phase(const std::string& name) { emit(phase_record(name)); }

 private:
  RecordSink& sink_;
  const PassSpec& spec_;
};

// The sample inputs of a pass and views of one batch of them at a time.
class Inputs {
 public:
  explicit Inputs(const PassSpec& spec) : batch_(spec.batch) {
    for (std::size_t i = 0; i < spec.input_files.size(); ++i) {
      tensors_.push_back(read_npy(spec.input_files[i]));
      if (i < spec.model.inputs.size()) tensors_.back().rename(spec.model.inputs[i].name);
    }
  }
  [[nodiscard]] std::vector<TensorView> batch(std::int64_t index) {
    std::vector<TensorView> views;
    for (auto& tensor : tensors_) {
      TensorView view = tensor.view();
      const auto sample_bytes = view.size_bytes() / static_cast<std::size_t>(view.shape.at(0));
      view.data = tensor.data() + static_cast<std::size_t>(index * batch_) * sample_bytes;
      view.shape[0] = batch_;
      views.push_back(std::move(view));
    }
    return views;
  }

 private:
  std::int64_t batch_;
  std::vector<Tensor> tensors_;
};

struct LoadedEngine {
  std::unique_ptr<plugin::Engine> engine;
  double load_ns = 0;
  result::Memory memory;  // rss before load
};

LoadedEngine load_engine(const PassSpec& spec, TaggedSink& sink) {
  sink.phase("load");
  const std::string heap = host::keep_freed_memory();
  const plugin::LoadedPlugin plugin(spec.plugin_file);
  LoadedEngine loaded{plugin.make_engine(spec.engine), 0, {}};
  // The libraries are in, the model is not: from here on memory counts as the case's.
  host::reset_rss_peak();
  loaded.memory.rss_before_load_bytes = host::process_memory().rss_bytes;
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  loaded.engine->load(spec.model, spec.settings);
  loaded.load_ns = static_cast<double>(clock.now_ns() - begin);
  auto info = loaded.engine->info();
  info.settings.emplace_back("heap", heap);
  sink.emit(loaded_record(info.versions, info.settings));
  return loaded;
}

std::span<const TensorView> infer(plugin::Engine& engine, std::span<const TensorView> inputs) {
  engine.bind(0, inputs);
  engine.enqueue(0);
  return engine.synchronize(0);
}

ComparedRows run_samples(const PassSpec& spec, plugin::Engine& engine, Inputs& inputs) {
  ComparedRows rows;
  for (std::int64_t b = 0; b < spec.samples / spec.batch; ++b)
    append_rows(rows, infer(engine, inputs.batch(b)), spec.batch);
  return rows;
}

result::Correctness check_rows(const PassSpec& spec, const ComparedRows& rows, bool first_batch_only) {
  if (spec.reference_file.empty()) {
    result::Correctness c;
    c.reference = "none: no engine here makes a reference for this model; only that outputs are finite";
    c.samples = rows.samples;
    c.checked = !rows.finite;
    if (!rows.finite) c.detail = "the output holds NaN or infinity";
    return c;
  }
  ComparedRows reference = to_rows(read_npy(spec.reference_file));
  if (first_batch_only) {
    reference.samples = std::min(reference.samples, rows.samples);
    reference.values.resize(
        static_cast<std::size_t>(reference.samples * reference.positions * reference.length));
  }
  auto correctness = compare_outputs(rows, reference, spec.tolerance);
  correctness.reference = spec.reference_name;
  return correctness;
}

// Time from process start to the end of a first small inference; a plug-in that does not know the model has
// none.
result::Number time_to_first_op(const plugin::LoadedPlugin& plugin, const PassSpec& spec) {
  try {
    const auto engine = plugin.make_engine(plugin.description().engines.front().name);
    engine->load(spec.model, spec.settings);
    std::vector<Tensor> inputs;
    std::vector<TensorView> views;
    for (const auto& input : spec.model.inputs) inputs.emplace_back(input);
    for (auto& input : inputs) views.push_back(input.view());
    infer(*engine, views);
    return host::since_process_start_ns();
  } catch (const Error& e) {
    return result::Number::missing(e.what());
  }
}

void describe(const PassSpec& spec, TaggedSink& sink) {
  sink.phase("load");
  const plugin::LoadedPlugin plugin(spec.plugin_file);
  std::vector<std::string> engines;
  for (const auto& entry : plugin.description().engines) engines.emplace_back(entry.name);
  sink.emit(loaded_record(plugin.description().versions(), {}));
  sink.emit(describe_record(
      engines, engines.empty() ? result::Number::missing("no engine") : time_to_first_op(plugin, spec)));
}

void reference(const PassSpec& spec, TaggedSink& sink) {
  auto loaded = load_engine(spec, sink);
  sink.phase("reference");
  Inputs inputs(spec);
  const auto rows = run_samples(spec, *loaded.engine, inputs);
  if (!rows.finite)
    throw Error(ErrorCode::kData, "the reference output holds NaN or infinity: check the weights and inputs");
  write_npy(spec.reference_file, to_tensor(rows).view());
}

void check(const PassSpec& spec, TaggedSink& sink) {
  auto loaded = load_engine(spec, sink);
  sink.phase("check");
  Inputs inputs(spec);
  const auto rows = run_samples(spec, *loaded.engine, inputs);
  const auto correctness = check_rows(spec, rows, false);
  const auto first = inputs.batch(0);
  loaded.engine->bind(0, first);
  const auto read = loaded.engine->read_back(0);
  result::PrecisionReadBack precision{spec.settings.precision, {}, read.source};
  for (const auto& share : read.precisions)
    precision.executed.push_back({share.precision, share.flops_share, share.operators});
  const auto peak = read.peak_tensor_bytes ? result::Count(*read.peak_tensor_bytes)
                                           : result::Count::missing("this engine cannot tell");
  const auto flops = read.flops ? result::Number(*read.flops / static_cast<double>(spec.batch))
                                : result::Number::missing("this engine cannot tell");
  sink.emit(check_record(correctness, precision, peak, flops));
}

const char* steady_state_name(const measure::LoopConfig& config, stats::WarmupState state) {
  if (config.warmup.mode != stats::WarmupMode::kAuto) return "fixed";
  return state == stats::WarmupState::kDone ? "reached" : "not_reached";
}

void fill_loop(result::Repetition& r, const measure::LoopConfig& config, const measure::LoopResult& loop) {
  r.first_iteration_ns = static_cast<double>(loop.warmup.first_iteration_ns);
  r.warmup_mode = config.warmup.mode == stats::WarmupMode::kAuto ? "auto" : "fixed";
  r.warmup_iterations = loop.warmup.iterations;
  r.warmup_ns = loop.warmup.duration_ns;
  r.steady_state = steady_state_name(config, loop.warmup.state);
  r.mser_cut = loop.mser ? loop.mser->cut : 0;
  r.residual_warmup = loop.mser && loop.mser->residual_warmup;
  r.converged = {loop.stop.converged, "fixed_iterations"};
  r.stop_reason = loop.stop.reason;
  r.unmet = loop.stop.unmet;
  r.elapsed_ns = loop.elapsed_ns;
  r.checks = loop.checks;
}

result::Overhead overhead_of(const measure::Calibration& start, const measure::Calibration& end,
                             double timed_ns) {
  result::Overhead o;
  o.timer_resolution_ns = start.timer.resolution_ns;
  o.timer_cost_ns = start.timer.p50_ns;
  o.timer_cost_p99_ns = start.timer.p99_ns;
  o.harness_cost_ns = std::max(start.harness_cost_ns, end.harness_cost_ns);
  o.overhead_fraction = *o.harness_cost_ns / timed_ns;
  o.os_noise_frac = std::max(start.os_noise.gap_frac, end.os_noise.gap_frac);
  o.calibration_drift = std::abs(end.harness_cost_ns / start.harness_cost_ns - 1);
  return o;
}

void finish_memory(result::Memory& memory) {
  memory.rss_peak_bytes = host::process_memory().rss_peak_bytes;
  if (memory.rss_peak_bytes && memory.rss_before_load_bytes)
    memory.rss_peak_above_load_bytes =
        std::max<std::int64_t>(0, *memory.rss_peak_bytes - *memory.rss_before_load_bytes);
}

std::vector<result::Sample> to_samples(const PassSpec& spec, const measure::LoopResult& loop) {
  const auto durations = loop.samples_ns();
  std::vector<result::Sample> samples;
  for (std::size_t i = 0; i < loop.samples.size(); ++i) {
    result::Sample s;
    s.repetition = static_cast<std::int32_t>(spec.repetition);
    s.rank = static_cast<std::int32_t>(spec.rank);
    s.index = static_cast<std::int64_t>(i);
    s.start_ns = loop.samples[i].start_ns;
    s.host_ns = std::llround(durations[i]);
    s.flags = loop.batch > 1 ? result::kSampleBatched : 0U;
    samples.push_back(s);
  }
  return samples;
}

ProgressRecord to_progress(const measure::Progress& p) {
  ProgressRecord record{p.phase == measure::Phase::kWarmup ? "warmup" : "measure",
                        p.n,
                        static_cast<double>(p.elapsed_ns) * 1e-9,
                        {},
                        {},
                        {}};
  if (p.decision != nullptr) {
    const auto& p50 = p.decision->first;
    record.p50_ns = {p50.value, "insufficient_samples"};
    record.ci_low_ns = {p50.ci_low, "insufficient_samples"};
    record.ci_high_ns = {p50.ci_high, "insufficient_samples"};
  }
  return record;
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

  Inputs inputs(spec);
  const auto batch = inputs.batch(0);
  plugin::Engine& engine = *loaded.engine;
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
  const measure::LoopHooks hooks{
      {},
      [&](const measure::Progress& p) { sink.emit(progress_record(to_progress(p))); },
      snapshot,
      snapshot,
      &interrupt};
  const auto loop = measure::run_timed_loop(clock, body, spec.loop, start.timer, decider, hooks);
  if (interrupt || loop.samples.empty()) return;
  finish_memory(loaded.memory);

  sink.phase("verify");
  ComparedRows rows;
  append_rows(rows, outputs, spec.batch);
  sink.emit(correctness_record(check_rows(spec, rows, true)));
  fill_loop(r, spec.loop, loop);
  r.memory = loaded.memory;
  r.noise = host::noise_over(snapshots);
  r.foreign_cpu_frac = r.noise.foreign_cpu_frac;
  r.overhead = overhead_of(start, measure::calibrate(clock),
                           stats::median(loop.samples_ns()) * static_cast<double>(loop.batch));
  sink.emit(samples_record(to_samples(spec, loop)));
  sink.emit(repetition_record(r));
}

}  // namespace

void run_inference_pass(const PassSpec& spec, RecordSink& raw, const std::atomic<bool>& interrupt) {
  TaggedSink sink(raw, spec);
  switch (spec.kind) {
    case PassKind::kDescribe:
      return describe(spec, sink);
    case PassKind::kReference:
      return reference(spec, sink);
    case PassKind::kCheck:
      return check(spec, sink);
    case PassKind::kTimed:
      return timed(spec, sink, interrupt);
  }
}

}  // namespace paceline::workload
