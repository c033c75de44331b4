// SPDX-License-Identifier: MIT
#include "workload/inference/load_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/error.h"
#include "base/units.h"
#include "host/affinity.h"
#include "host/noise.h"
#include "host/process_clock.h"
#include "measure/closed_loop.h"
#include "result/summarize_load.h"
#include "workload/inference/capacity.h"
#include "workload/inference/lanes.h"
#include "workload/inference/server_run.h"

namespace paceline::workload {
namespace {

struct Infer {
  Lanes& lanes;
  void operator()(int lane) const { lanes.infer(lane); }
};
using Loop = measure::ClosedLoop<measure::HostWaitingClock, Infer>;

// What a scenario's measurement leaves behind.
struct Measured {
  measure::LoopResult loop;
  std::vector<result::Sample> samples;
  result::Load load;
  double timed_ns = 0;  // what the harness adds to: the median call
};

std::vector<result::Sample> to_samples(const PassSpec& spec, const std::vector<measure::Sample>& loop) {
  std::vector<result::Sample> samples;
  for (const auto& one : loop) {
    result::Sample s;
    s.repetition = static_cast<std::int32_t>(spec.repetition);
    s.rank = static_cast<std::int32_t>(spec.rank);
    s.index = static_cast<std::int64_t>(samples.size());
    s.start_ns = one.start_ns;
    s.host_ns = one.duration_ns;
    samples.push_back(s);
  }
  return samples;
}

double call_estimate_ns(const measure::WarmupResult& warmup, std::int64_t lanes) {
  if (warmup.iterations == 0) return static_cast<double>(warmup.first_iteration_ns);
  return static_cast<double>(warmup.duration_ns * lanes) / static_cast<double>(warmup.iterations);
}

// As many batches as keep every lane busy for t_min, or as many as were asked for.
std::int64_t submission_size(const PassSpec& spec, double call_ns) {
  if (spec.loop.iterations) return *spec.loop.iterations;
  const double lanes = static_cast<double>(spec.load.concurrency);
  const auto fill = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(spec.loop.stop.t_min_ns) / std::max(call_ns, 1.0) * lanes));
  return std::clamp(fill, spec.loop.stop.n_min, spec.loop.stop.n_max);
}

Measured measured_loop(const PassSpec& spec, measure::LoopResult loop) {
  Measured m;
  m.samples = to_samples(spec, loop.samples);
  m.load.concurrency = spec.load.concurrency;
  m.timed_ns = loop.samples.empty() ? 0 : stats::median(loop.samples_ns());
  m.loop = std::move(loop);
  return m;
}

Measured offline(const PassSpec& spec, Loop& loop, double call_ns) {
  return measured_loop(spec, loop.measure_count(submission_size(spec, call_ns)));
}

Measured closed_loop(const PassSpec& spec, Loop& loop, double call_ns, measure::StopDecider& decider) {
  return measured_loop(spec, spec.loop.iterations ? loop.measure_count(*spec.loop.iterations)
                                                  : loop.measure(decider, call_ns));
}

constexpr std::int64_t kSaturationCalls = 30;  // of each lane
constexpr std::int64_t kSaturationNs = 1'000'000'000;

// Requests per second with every lane always in use.
double saturation_per_s(const PassSpec& spec, Loop& loop, double call_ns) {
  stats::StopConfig stop;
  stop.n_min = kSaturationCalls * spec.load.concurrency;
  stop.t_min_ns = kSaturationNs;
  stop.quantiles_ppm = {};
  measure::AloneDecider decider(spec.loop.warmup, stop);
  const auto calls = loop.measure(decider, call_ns);
  if (calls.elapsed_ns <= 0) return 0;
  return static_cast<double>(calls.samples.size()) * 1e9 / static_cast<double>(calls.elapsed_ns);
}

// Schedules on the lanes, one after the other.
class ServerRuns {
 public:
  ServerRuns(const PassSpec& spec, Lanes& lanes, const measure::HostWaitingClock& clock,
             const measure::LoopHooks& hooks)
      : spec_(spec), lanes_(lanes), clock_(clock), hooks_(hooks) {}

  Measured run(const ServerPlan& plan, std::uint64_t trial = 0) {
    auto body = [&](int lane, std::span<measure::Request>) { lanes_.infer(lane); };
    const auto requests =
        measure::run_open_loop(clock_, body, lanes_.crew(), open_loop_config(spec_, plan, trial), hooks_);
    Measured m;
    m.samples = server_samples(spec_, plan, requests);
    m.load = server_load(spec_, plan);
    m.timed_ns = median_service_ns(m.samples);
    m.loop.stop.reason = hooks_.interrupt->load() ? stats::kStopInterrupted : "schedule_done";
    m.loop.elapsed_ns = requests.empty() ? 0 : requests.back().end_ns - requests.front().scheduled_ns;
    return m;
  }

  // The run of the last trial, with the trials.
  Measured search(double saturation_per_s, TaggedSink& sink) {
    const CapacityLimits limits{saturation_per_s, spec_.load.slo_p, spec_.load.max_requests,
                                spec_.load.t_max_s};
    sink.emit(notice_record(cost_in_words(limits)));
    Measured last;
    const auto capacity = search_capacity(limits, [&](const TrialRun& t) {
      if (hooks_.interrupt->load()) return result::SloResult{};
      last = run(plan_trial(saturation_per_s, t.rate_per_s, t.counted), t.seed);
      result::Load judged = last.load;
      result::summarize_load(judged, kServer, last.samples);
      auto slo = judged.slo.front();
      sink.emit(notice_record(fmt::format("{}/s: {}", format_rate(t.rate_per_s), slo.detail)));
      return slo;
    });
    if (last.samples.empty() && !hooks_.interrupt->load())
      throw Error(ErrorCode::kUsage, "no trial of the capacity search was run: " + capacity.per_s.reason());
    last.load.capacity = capacity;
    return last;
  }

 private:
  const PassSpec& spec_;
  Lanes& lanes_;
  const measure::HostWaitingClock& clock_;
  const measure::LoopHooks& hooks_;
};

Measured server(const PassSpec& spec, Loop& loop, double call_ns, Lanes& lanes, TaggedSink& sink,
                const measure::HostWaitingClock& clock, const measure::LoopHooks& hooks) {
  sink.phase("saturation");
  const double saturation = saturation_per_s(spec, loop, call_ns);
  ServerRuns runs(spec, lanes, clock, hooks);
  const auto measured = [&] {
    if (spec.load.searches()) return runs.search(saturation, sink);
    const ServerPlan plan = plan_server(spec, saturation);
    sink.emit(notice_record(in_words(plan)));
    return runs.run(plan);
  };
  sink.phase("measure");
  return measured();
}

}  // namespace

void run_load_pass(const PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt) {
  result::Repetition r;
  r.index = spec.repetition;
  r.process_start_ns = host::since_process_start_ns();
  r.started_utc = format_utc(std::time(nullptr));
  if (!spec.pin_cpus.empty()) host::pin_process(spec.pin_cpus);
  const measure::HostWaitingClock clock(&interrupt);
  sink.phase("calibrate");
  const auto start = measure::calibrate(clock);
  Lanes lanes(spec, sink);
  r.load_ns = lanes.load_ns();

  measure::LoopHooks hooks;
  hooks.progress = [&](const measure::Progress& p) { sink.emit(progress_record(to_progress(p))); };
  hooks.interrupt = &interrupt;
  Infer body{lanes};
  Loop loop(clock, body, lanes.crew(), hooks, spec.loop.progress_interval_ns);
  measure::AloneDecider decider(spec.loop.warmup, spec.loop.stop);
  sink.phase("warmup");
  const auto warmup = loop.warm_up(decider);
  const double call_ns = call_estimate_ns(warmup, spec.load.concurrency);
  sink.phase("measure");
  const auto before = host::take_snapshot();
  Measured m = spec.load.scenario == kServer    ? server(spec, loop, call_ns, lanes, sink, clock, hooks)
               : spec.load.scenario == kOffline ? offline(spec, loop, call_ns)
                                                : closed_loop(spec, loop, call_ns, decider);
  const auto after = host::take_snapshot();
  if (interrupt || m.samples.empty()) return;

  sink.phase("verify");
  sink.emit(correctness_record(lanes.check(spec)));
  m.loop.warmup = warmup;
  fill_loop(r, spec.loop, m.loop);
  if (spec.load.scenario == kServer)
    r.converged = result::Maybe<bool>::missing("the length follows from the load");
  r.memory = lanes.memory();
  finish_memory(r.memory);
  r.noise = host::noise_between(before, after);
  r.foreign_cpu_frac = r.noise.foreign_cpu_frac;
  r.overhead = overhead_of(start, measure::calibrate(clock), m.timed_ns);
  r.load = {m.load};
  sink.emit(samples_record(m.samples));
  sink.emit(repetition_record(r));
}

}  // namespace paceline::workload
