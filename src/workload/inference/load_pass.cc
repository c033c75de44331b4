// SPDX-License-Identifier: MIT
#include "workload/inference/load_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "measure/closed_loop.h"
#include "pass/capacity.h"
#include "result/figures/summarize_load.h"
#include "workload/inference/lanes.h"
#include "workload/inference/server_run.h"
#include "workload/timed_repetition.h"
#include "workload/window/memory_observer.h"

namespace paceline::workload {
namespace {

struct Infer {
  Lanes& lanes;
  void operator()(int lane) const { lanes.infer(lane); }
};
using Loop = measure::JudgedLoop<measure::HostWaitingClock>;

// One engine per lane, side by side in this process.
class LaneService : public Service {
 public:
  LaneService(const pass::PassSpec& spec, TaggedSink& sink, const measure::HostWaitingClock& clock,
              const measure::LoopHooks& hooks)
      : clock_(clock),
        hooks_(hooks),
        lanes_(spec, sink),
        body_{lanes_},
        loop_(clock, body_, lanes_.crew(), hooks, spec.loop.progress_interval_ns) {}
  Loop& loop() override { return loop_; }
  std::vector<measure::Request> serve(const measure::OpenLoopConfig& config) override {
    auto body = [&](int lane, std::span<measure::Request> batch) { lanes_.serve(lane, batch); };
    return measure::run_open_loop(clock_, body, lanes_.crew(), config, hooks_);
  }
  void try_batch_sizes() override { lanes_.try_batch_sizes(); }
  [[nodiscard]] std::vector<std::int64_t> lost_calls() const override { return {}; }
  void require_complete() const override {}
  void observe(TimedRepetition& repetition) const override {
    repetition.window.add<MemoryObserver>(lanes_.memory());
    repetition.observe();
  }
  ServiceEnd finish(double typical_ns) override {
    return {lanes_.load_ns(), {}, lanes_.check(typical_ns), lanes_.batching(), {}};
  }

 private:
  const measure::HostWaitingClock& clock_;
  const measure::LoopHooks& hooks_;
  Lanes lanes_;
  Infer body_;
  measure::ClosedLoop<measure::HostWaitingClock, Infer> loop_;
};

struct Measured {
  measure::LoopResult loop;
  std::vector<result::Sample> samples;
  result::Load load;
  double timed_ns = 0;  // the median call, with which the harness overhead is compared
};

std::vector<result::Sample> to_samples(const pass::PassSpec& spec, const std::vector<measure::Sample>& loop) {
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

// As many batches as keep every lane busy for t_min, or the number that was asked for.
std::int64_t submission_size(const pass::PassSpec& spec, double call_ns) {
  if (spec.loop.iterations) return *spec.loop.iterations;
  const double lanes = static_cast<double>(spec.inference.load.lanes());
  const auto fill = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(spec.loop.stop.t_min_ns) / std::max(call_ns, 1.0) * lanes));
  return std::clamp(fill, spec.loop.stop.n_min, spec.loop.stop.n_max);
}

// Adds calls that were lost with their instance, as samples without an end.
void add_lost(const pass::PassSpec& spec, const std::vector<std::int64_t>& starts,
              std::vector<result::Sample>& samples) {
  for (const auto start : starts) {
    result::Sample s;
    s.repetition = static_cast<std::int32_t>(spec.repetition);
    s.rank = static_cast<std::int32_t>(spec.rank);
    s.index = static_cast<std::int64_t>(samples.size());
    s.start_ns = start;
    s.flags = result::kSampleFailed;
    samples.push_back(s);
  }
}

Measured measured_loop(const pass::PassSpec& spec, const Service& service, measure::LoopResult loop) {
  Measured m;
  m.samples = to_samples(spec, loop.samples);
  add_lost(spec, service.lost_calls(), m.samples);
  m.load.concurrency = spec.inference.load.lanes();
  m.timed_ns = loop.samples.empty() ? 0 : stats::median(loop.samples_ns());
  m.loop = std::move(loop);
  return m;
}

Measured offline(const pass::PassSpec& spec, Service& service, double call_ns) {
  return measured_loop(spec, service, service.loop().measure_count(submission_size(spec, call_ns)));
}

Measured closed_loop(const pass::PassSpec& spec, Service& service, double call_ns,
                     measure::StopDecider& decider) {
  Loop& loop = service.loop();
  return measured_loop(
      spec, service,
      spec.loop.iterations ? loop.measure_count(*spec.loop.iterations) : loop.measure(decider, call_ns));
}

constexpr std::int64_t kSaturationCalls = 30;  // per lane
constexpr std::int64_t kSaturationNs = 1'000'000'000;

// Requests per second with every lane always in use and every batch full.
double saturation_per_s(const pass::PassSpec& spec, Loop& loop, double call_ns) {
  stats::StopConfig stop;
  stop.n_min = kSaturationCalls * spec.inference.load.lanes();
  stop.t_min_ns = kSaturationNs;
  stop.quantiles_ppm = {};
  measure::AloneDecider decider(spec.loop.warmup, stop);
  const auto calls = loop.measure(decider, call_ns);
  if (calls.elapsed_ns <= 0) return 0;
  const auto requests =
      static_cast<double>(calls.samples.size()) * static_cast<double>(spec.inference.load.max_batch);
  return requests * 1e9 / static_cast<double>(calls.elapsed_ns);
}

// Runs schedules on the lanes, one after the other.
class ServerRuns {
 public:
  ServerRuns(const pass::PassSpec& spec, Service& service, const std::atomic<bool>& interrupt)
      : spec_(spec), service_(service), interrupt_(interrupt) {}

  Measured run(const ServerPlan& plan, std::uint64_t trial = 0) {
    const auto requests = service_.serve(open_loop_config(spec_, plan, trial));
    Measured m;
    m.samples = server_samples(spec_, plan, requests);
    m.load = server_load(spec_, plan);
    m.timed_ns = median_service_ns(m.samples);
    m.loop.stop.reason = interrupt_.load() ? stats::kStopInterrupted : "schedule_done";
    for (const auto& request : requests)
      m.loop.elapsed_ns = std::max(m.loop.elapsed_ns, request.end_ns - requests.front().scheduled_ns);
    return m;
  }

  // Returns the run of the last trial, with all trials.
  Measured search(double saturation_per_s, TaggedSink& sink) {
    const pass::CapacityLimits limits{saturation_per_s, spec_.inference.load.slo_p,
                                      spec_.inference.load.max_requests, spec_.inference.load.t_max_s};
    sink.emit(pass::notice_record(cost_in_words(limits)));
    Measured last;
    const auto capacity = pass::search_capacity(limits, [&](const pass::TrialRun& t) {
      if (interrupt_.load()) return pass::TrialOutcome{};
      last = run(plan_trial(saturation_per_s, t.rate_per_s, t.counted), t.seed);
      service_.require_complete();
      result::Load judged = last.load;
      result::summarize_load(judged, Scenario::kServer, last.samples);
      const auto& slo = *judged.slo;
      sink.emit(pass::notice_record(fmt::format("{}/s: {}", format_rate(t.rate_per_s), slo.detail)));
      return pass::TrialOutcome{slo, result::issued_late(judged)};
    });
    sink.emit(pass::notice_record("capacity: " + result::capacity_in_words(capacity)));
    if (last.samples.empty() && !interrupt_.load())
      throw Error(ErrorCode::kUsage, "no trial of the capacity search was run: " + capacity.per_s.reason());
    last.load.capacity = capacity;
    return last;
  }

 private:
  const pass::PassSpec& spec_;
  Service& service_;
  const std::atomic<bool>& interrupt_;
};

// Reads the recorded schedule that was asked for, before anything is measured.
std::optional<ArrivalFile> recorded_schedule(const pass::PassSpec& spec) {
  const auto& file = spec.inference.load.schedule_file;
  return file.empty() ? std::nullopt : std::optional(read_arrivals(file));
}

Measured server(const pass::PassSpec& spec, Service& service, double call_ns,
                const std::optional<ArrivalFile>& recorded, TaggedSink& sink,
                const std::atomic<bool>& interrupt) {
  sink.phase("saturation");
  const double saturation = saturation_per_s(spec, service.loop(), call_ns);
  service.require_complete();
  ServerRuns runs(spec, service, interrupt);
  const auto measured = [&] {
    if (spec.inference.load.searches()) return runs.search(saturation, sink);
    const ServerPlan plan =
        recorded ? plan_replay(spec, saturation, *recorded) : plan_server(spec, saturation);
    sink.emit(pass::notice_record(in_words(plan)));
    return runs.run(plan);
  };
  sink.phase("measure");
  return measured();
}

}  // namespace

void run_load_pass(const pass::PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt) {
  run_load_pass(spec, sink, interrupt,
                [&](const measure::HostWaitingClock& clock, const measure::LoopHooks& hooks) {
                  return std::make_unique<LaneService>(spec, sink, clock, hooks);
                });
}

void run_load_pass(const pass::PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt,
                   const MakeService& make) {
  TimedRepetition repetition(spec, sink);
  const measure::HostWaitingClock clock(&interrupt);
  measure::LoopHooks hooks;
  hooks.progress = [&](const measure::Progress& p) { sink.emit(pass::progress_record(to_progress(p))); };
  hooks.interrupt = &interrupt;
  const auto recorded = recorded_schedule(spec);
  const auto service = make(clock, hooks);

  measure::AloneDecider decider(spec.loop.warmup, spec.loop.stop);
  sink.phase("warmup");
  const auto warmup = service->loop().warm_up(decider);
  service->require_complete();
  const double call_ns = call_estimate_ns(warmup, spec.inference.load.lanes());
  service->try_batch_sizes();
  sink.phase("measure");
  const auto& scenario = traits_of(spec.inference.load.scenario);
  service->observe(repetition);
  repetition.window.open();
  Measured m = scenario.open_loop      ? server(spec, *service, call_ns, recorded, sink, interrupt)
               : scenario.all_at_start ? offline(spec, *service, call_ns)
                                       : closed_loop(spec, *service, call_ns, decider);
  repetition.window.close();
  if (m.samples.empty()) service->require_complete();
  if (interrupt || m.samples.empty()) return;

  sink.phase("verify");
  auto end = service->finish(m.timed_ns);
  sink.emit(pass::correctness_record(end.correctness));
  m.loop.warmup = warmup;
  m.load.instances = std::move(end.instances);
  m.load.batching = std::move(end.batching);
  repetition.fill(m.loop, m.timed_ns);
  auto& r = repetition.figures;
  if (r.stop_reason.empty()) r.stop_reason = "instances_died";
  if (scenario.open_loop) r.converged = Maybe<bool>::missing("the length follows from the load");
  r.load_ns = end.load_ns;
  if (end.memory) r.memory = *end.memory;
  r.payload = m.load;
  repetition.emit(m.samples);
  sink.phase(kUnload);
}

}  // namespace paceline::workload
