// SPDX-License-Identifier: MIT
#include "workload/inference/inference_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/bounded_json.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/npy.h"
#include "base/reading.h"
#include "base/units.h"
#include "host/machine/process_clock.h"
#include "measure/timed_loop.h"
#include "pass/derived_spec.h"
#include "result/judged/reference.h"
#include "workload/inference/between_samples.h"
#include "workload/inference/check_samples.h"
#include "workload/inference/feedback.h"
#include "workload/inference/float_layers.h"
#include "workload/inference/fresh_answers.h"
#include "workload/inference/idle_gap.h"
#include "workload/inference/load_pass.h"
#include "workload/inference/new_shapes.h"
#include "workload/inference/pass_parts.h"
#include "workload/inference/profile_pass.h"
#include "workload/inference/yardstick.h"
#include "workload/timed_repetition.h"
#include "workload/turn_taker.h"
#include "workload/window/memory_observer.h"

namespace paceline::workload {
namespace {

// Time from process start to the end of a first small inference; missing where the model is unknown.
Number time_to_first_op(const plugin::LoadedPlugin& plugin, const pass::PassSpec& spec, TaggedSink& sink) {
  try {
    sink.phase("first_inference");
    const auto engine = plugin.make<plugin::Role::kEngine>(plugin.description().engines.front().name);
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
    return Number::missing(e.what());
  }
}

// Timed engine: with the first batch of the inputs, and a state if the model has one.
class TimedEngine {
 public:
  // Reads the inputs it uses and no others, which would count as memory of the case.
  TimedEngine(const pass::PassSpec& spec, plugin::Engine& engine)
      : spec_(spec),
        engine_(engine),
        inputs_(spec, 0, 1),
        batch_(inputs_.batch(0)),
        times_enqueue_(engine.info().device_clock) {
    engine_.bind(0, batch_);
  }
  // Starts `count` inferences and waits for all of them.
  void infer(std::int64_t count) {
    const auto begin = times_enqueue_ ? clock_.now_ns() : 0;
    engine_.enqueue(0);
    if (times_enqueue_) enqueue_ns_ = clock_.now_ns() - begin;
    for (std::int64_t i = 1; i < count; ++i) engine_.enqueue(0);
    outputs_ = engine_.synchronize(0);
  }
  // How long starting the first of those took the host; 0 where no device runs them. The others may have to
  // wait for room in the device's queue.
  [[nodiscard]] const std::int64_t& enqueue_ns() const { return enqueue_ns_; }
  void feed();
  // How long copying and binding the state took on average; empty without a state.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> feeding() const;
  result::Correctness verify(double typical_ns);
  plugin::Engine& engine() { return engine_; }

 private:
  const pass::PassSpec& spec_;
  plugin::Engine& engine_;
  Inputs inputs_;
  std::vector<TensorView> batch_;
  bool times_enqueue_;
  SteadyClock clock_;
  std::int64_t enqueue_ns_ = 0;
  std::span<const TensorView> outputs_;
  std::optional<Feedback> feedback_;
  std::int64_t feeding_ns_ = 0, feedings_ = 0;
};

// The state after the last inference is an input of the next.
void TimedEngine::feed() {
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  const auto outputs = readable(engine_, outputs_);
  if (!feedback_) feedback_.emplace(spec_.inference.feedback, batch_, outputs);
  engine_.bind(0, feedback_->next(outputs));
  feeding_ns_ += clock.now_ns() - begin, ++feedings_;
}

std::vector<std::pair<std::string, std::string>> TimedEngine::feeding() const {
  if (feedings_ == 0) return {};
  const auto mean_ns = static_cast<double>(feeding_ns_) / static_cast<double>(feedings_);
  return {{"feedback_us_between_inferences", fmt::format("{:.1f}", mean_ns * 1e-3)}};
}

result::Correctness TimedEngine::verify(double typical_ns) {
  if (feedback_) outputs_ = workload::infer(engine_, batch_);  // the answers to the first inputs are compared
  return verify_answers(spec_, engine_, {outputs_, batch_, typical_ns});
}

// Waits for each inference, or for whole blocks of them.
measure::LoopResult timed_loop(const pass::PassSpec& spec, TimedRepetition& repetition, TimedEngine& engine,
                               const std::atomic<bool>& interrupt, std::function<void(std::int64_t)> before) {
  if (spec.loop.pipelined)
    return repetition.run_loop([&](std::int64_t count) { engine.infer(count); }, interrupt,
                               std::move(before));
  return repetition.run_loop([&] { engine.infer(1); }, interrupt, std::move(before));
}

// Adds what is known of the model's arithmetic where outputs are not within their limits.
void explain(result::Correctness& c, const plugin::ReadBack& read, const std::string& asked) {
  if (!result::is_wrong(c)) return;
  const auto tf32 = std::ranges::find(read.precisions, "tf32", &plugin::PrecisionShare::precision);
  if (asked == "fp32" && tf32 != read.precisions.end())
    c.detail += fmt::format("; {:.3g} % of its work ran in tf32, not in fp32: --precision tf32 judges it so",
                            100 * tf32->flops_share);
  if (!read.note.empty()) c.detail += "; " + read.note;
}

}  // namespace

void run_describe(const pass::PassSpec& spec, TaggedSink& sink) {
  sink.phase("load");
  const plugin::LoadedPlugin plugin(spec.plugins.at(0).file);  // whatever it brings
  sink.phase("versions");
  sink.emit(pass::loaded_record(plugin.description().versions(), {}));
  sink.emit(
      pass::describe_record({plugin.capabilities(), plugin.description().options,
                             plugin.description().engines.empty() ? Number::missing("no engine")
                                                                  : time_to_first_op(plugin, spec, sink)}));
}

void run_inspect(const pass::PassSpec& spec, TaggedSink& sink) {
  sink.phase("load");
  const plugin::LoadedPlugin plugin(spec.plugin(plugin::Role::kEngine).file);
  const auto engine = plugin.make<plugin::Role::kEngine>(spec.engine());
  sink.phase("inspect");
  sink.emit(pass::file_inputs_record(engine->file_inputs(spec.model.file)));
  sink.phase(kUnload);
}

void run_reference(const pass::PassSpec& spec, TaggedSink& sink) {
  auto loaded = load_engine(spec, sink);
  sink.phase("reference");
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  auto run = run_samples(spec, *loaded.engine);
  if (spec.inference.accuracy.yardsticks)
    add_yardsticks(run.outputs, spec, *loaded.engine, static_cast<double>(clock.now_ns() - begin),
                   [&](const std::string& name) { sink.phase(name); });
  write_reference(spec.inference.reference_file, run.outputs);
  sink.phase(kUnload);
}

void run_check(const pass::PassSpec& spec, TaggedSink& sink) {
  auto loaded = load_engine(spec, sink);
  sink.phase("check");
  const auto run = run_samples(spec, *loaded.engine);
  const auto others = run_other_inputs(spec, *loaded.engine);
  Inputs inputs(spec, 0, 1);
  const auto first = inputs.batch(0);
  if (!spec.inference.feedback.empty())
    Feedback(spec.inference.feedback, first,
             infer(*loaded.engine, first));  // throws for pairs that do not fit
  loaded.engine->bind(0, first);
  sink.phase("read back");
  const auto read = loaded.engine->read_back(0);
  require_plausible(read);
  result::PrecisionReadBack precision{spec.settings.precision, {}, read.source};
  for (const auto& share : read.precisions)
    precision.executed.push_back({share.precision, share.flops_share, share.operators, share.weights});
  precision.in_float = float_layers(read, spec.settings.precision, spec.model.file, spec.engine());
  pass::PassSpec judged = spec;
  pass::use_limits(judged.inference, pass::dominant_precision(precision));
  sink.phase("compare");
  auto correctness = check_samples(judged, run);
  add_other_inputs(correctness, judged.inference, others);
  explain(correctness, read, spec.settings.precision);
  const auto peak = read.peak_tensor_bytes ? Count(*read.peak_tensor_bytes)
                                           : Count::missing("this engine does not report it");
  const auto flops = read.flops ? Number(*read.flops / static_cast<double>(spec.batch))
                                : Number::missing("this engine does not report it");
  const auto intensity = read.flops && read.bytes.value_or(0) > 0
                             ? Number(*read.flops / *read.bytes)
                             : Number::missing("this engine does not report it");
  const auto reserved = read.peak_reserved_bytes ? Count(*read.peak_reserved_bytes) : Count();
  sink.emit(pass::check_record(correctness,
                               {precision, peak, reserved, flops, intensity, convolution_share(read)}));
  sink.phase(kUnload);
}

namespace {

// Sleeps until the case is checked, and takes over what the outputs are compared with. False: interrupted.
bool wait_for_check(pass::PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt) {
  if (spec.inference.check_file.empty()) return true;
  sink.phase(pass::kUncheckedPhase);
  constexpr auto kPoll = std::chrono::milliseconds(5);
  while (!interrupt && !std::filesystem::exists(spec.inference.check_file))
    std::this_thread::sleep_for(kPoll);
  if (interrupt) return false;
  const auto checked = parsed_json(read_regular_file(spec.inference.check_file));
  if (checked.is_null()) throw Error(ErrorCode::kData, "the check of its outputs failed");
  spec = pass::pass_from_json(checked);
  return true;
}

}  // namespace

void run_timed(const pass::PassSpec& given, TaggedSink& sink, const std::atomic<bool>& interrupt) {
  pass::PassSpec spec = given;
  TimedRepetition repetition(spec, sink);
  auto loaded = load_engine(spec, sink);
  repetition.figures.load_ns = loaded.load_ns;
  repetition.window.add<MemoryObserver>(loaded.memory);
  TimedEngine engine(spec, *loaded.engine);
  sink.phase("measure");
  const auto turns = TurnTaker::of(spec, [&] { engine.infer(1); });
  repetition.take_turns(turns.get());
  const auto feed = [&] { engine.feed(); };
  BetweenSamples between(*loaded.engine, spec.inference.cache_mode == "cold",
                         spec.inference.feedback.empty() ? std::function<void()>() : feed,
                         &engine.enqueue_ns());
  IdleGap gap(spec.inference.gap_ns, interrupt);
  const auto loop = timed_loop(spec, repetition, engine, interrupt, gap.hook(between.hook()));
  if (interrupt || loop.samples.empty()) return;
  const auto device = between.take_times(loop.samples.size());
  const auto signs = gap.signs();

  if (!wait_for_check(spec, sink, interrupt)) return;
  sink.phase("verify");
  sink.emit(pass::correctness_record(engine.verify(stats::median(loop.samples_ns()))));
  if (!spec.inference.new_shapes.empty()) {
    sink.phase("new shapes");
    repetition.figures.new_shapes = time_new_shapes(spec, *loaded.engine);
  }
  if (const auto feeding = engine.feeding(); !feeding.empty())
    sink.emit(pass::loaded_record(loaded.engine->info().versions, feeding));
  if (!signs.empty()) sink.emit(pass::loaded_record(loaded.engine->info().versions, signs));
  if (spec.loop.pipelined)
    sink.emit(pass::loaded_record(loaded.engine->info().versions,
                                  {{"inferences_per_block", std::to_string(loop.batch)}}));
  repetition.emit(loop, device);
  sink.phase(kUnload);
}

}  // namespace paceline::workload
