// SPDX-License-Identifier: MIT
#include "workload/timed_repetition.h"

#include <cmath>
#include <ctime>
#include <utility>

#include "base/units.h"
#include "host/machine/affinity.h"
#include "host/machine/process_clock.h"
#include "measure/control_spin.h"
#include "stats/quantile.h"
#include "workload/window/profiler_range.h"
#include "workload/window/sampler_observer.h"

namespace paceline::workload {
namespace {

std::optional<std::int64_t> per_iteration(std::optional<std::int64_t> ns, std::int64_t batch) {
  if (!ns) return std::nullopt;
  return std::llround(static_cast<double>(*ns) / static_cast<double>(batch));
}

// A batch of iterations that are waited for one by one has no times on the device.
std::vector<result::Sample> samples_of(const pass::PassSpec& spec, const measure::LoopResult& loop,
                                       const std::vector<DeviceTimes>& device) {
  const bool pipelined = spec.loop.pipelined;
  const auto durations = loop.samples_ns();
  std::vector<result::Sample> samples;
  for (std::size_t i = 0; i < loop.samples.size(); ++i) {
    result::Sample s;
    s.repetition = static_cast<std::int32_t>(spec.repetition);
    s.rank = static_cast<std::int32_t>(spec.rank);
    s.index = static_cast<std::int64_t>(i);
    s.start_ns = loop.samples[i].start_ns;
    s.host_ns = std::llround(durations[i]);
    if ((loop.batch == 1 || pipelined) && i < device.size()) {
      s.device_ns = per_iteration(device[i].device_ns, loop.batch);
      s.enqueue_ns = device[i].enqueue_ns;
      s.input_ns = device[i].input_ns, s.output_ns = device[i].output_ns;
      s.compute_ns = device[i].compute_ns;
    }
    s.flags = pipelined ? result::kSamplePipelined : loop.batch > 1 ? result::kSampleBatched : 0U;
    samples.push_back(s);
  }
  return samples;
}

}  // namespace

namespace {

// Time of a part of the control, once its memory was touched.
double control_ns() {
  measure::control_spin_ns();
  return measure::control_spin_ns() / measure::kWholeControl;
}

}  // namespace

TimedRepetition::TimedRepetition(const pass::PassSpec& spec, TaggedSink& sink) : spec_(spec), sink_(sink) {
  figures.index = spec.repetition;
  figures.process_start_ns = host::since_process_start_ns();
  figures.started_utc = format_utc(std::time(nullptr));
  if (!spec.pin_cpus.empty()) host::pin_process(spec.pin_cpus);
  sink.phase("calibrate");
  TurnTaker::prepare(spec);
  overhead_ = &window.add<OverheadObserver>();
}

// One line per observer. The window of what disturbs includes the threads of samplers.
void TimedRepetition::observe(std::vector<int> processes, bool samples) {
  if (samples) add_samplers(window, spec_, processes.size(), sampled);
  noise_ = &window.add<NoiseObserver>(std::move(processes));
  if (profiler_waits()) window.add<ProfilerRange>();
}

void TimedRepetition::begin_window() {
  if (turns_) {
    turns_->get_ready();
    sink_.phase(pass::kTurnPhase);  // whoever starts the others hears it
    turns_->watch({[this] { noise_->turn_begins(); }, [this] { noise_->turn_ends(); }});
    turns_->begin();
    noise_->work_in_turns(turns_->other_processes());
    sink_.phase("measure");
  }
  window.open();
}

// Later work would disturb processes that still measure.
void TimedRepetition::end_window() {
  if (turns_) noise_->turn_ends();
  window.close();
  if (turns_) turns_->end();
}

void TimedRepetition::fill(const measure::LoopResult& loop, double timed_ns) {
  fill_loop(figures, spec_.loop, loop);
  window.report(figures, timed_ns);
}

void TimedRepetition::emit(const std::vector<result::Sample>& samples) {
  sink_.emit(pass::samples_record(samples));
  if (!sampled.empty()) sink_.emit(pass::sampled_record({pass::sampled_text(sampled)}));
  sink_.emit(pass::repetition_record(figures));
}

void TimedRepetition::emit(const measure::LoopResult& loop, const std::vector<DeviceTimes>& device) {
  const double typical_ns = stats::median(loop.samples_ns());
  fill(loop, typical_ns * static_cast<double>(loop.batch));
  figures.control_ns = turns_ ? turns_->control_ns() : Number(control_ns());
  figures.in_turns = !turns_                    ? Maybe<bool>::missing(spec_.inference.alone)
                     : turns_->was_left_alone() ? Maybe<bool>::missing("the other processes had ended")
                                                : Maybe<bool>(true);
  emit(samples_of(spec_, loop, device));
}

}  // namespace paceline::workload
