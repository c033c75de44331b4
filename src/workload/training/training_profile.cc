// SPDX-License-Identifier: MIT
// The pass of one rank under the profiler.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "workload/pass_records.h"
#include "workload/training/passes.h"
#include "workload/training/scoped_clock.h"
#include "workload/training/training_rank.h"

namespace paceline::workload {
namespace {

using result::OperatorRow;
using result::ProfiledSteps;

std::vector<OperatorRow> rows_of(const std::vector<plugin::ProfiledTime>& times, const char* no_self_time) {
  std::vector<OperatorRow> rows;
  for (const auto& time : times)
    rows.push_back(
        {time.name, time.calls, {time.self_ns, no_self_time}, time.total_ns, Number::missing("no sum yet")});
  return rows;
}

bool is_step(const plugin::ProfiledTime& scope) {
  return scope.name.starts_with(kStepScope);
}

// Every step and every part of one is a scope, so the self time of a scope is what no operator took; on a
// device it is the time in which the device was idle. There the steps are the device's too, because the
// host's scopes end before the device's work does.
ProfiledSteps steps_of(plugin::StepProfile profile, std::int64_t untimed_steps,
                       const std::vector<double>& device_step_ns) {
  const bool on_device = profile.device_busy_ns.has_value();
  ProfiledSteps steps;
  steps.source = std::move(profile.source);
  steps.on_device = on_device;
  steps.no_trace = std::move(profile.no_trace);
  steps.untimed_steps = untimed_steps;
  for (const auto& scope : profile.scopes) {
    steps.outside_ns += scope.self_ns.value_or(0);
    if (is_step(scope)) steps.step_ns.push_back(scope.total_ns);
  }
  if (on_device) steps.step_ns = device_step_ns;
  if (on_device)
    steps.outside_ns = std::max(
        0.0, std::accumulate(steps.step_ns.begin(), steps.step_ns.end(), 0.0) - *profile.device_busy_ns);
  std::erase_if(profile.scopes, is_step);
  steps.parts = rows_of(profile.scopes, "the host hands over the work of this part, the device does it");
  steps.operators = rows_of(profile.operators, on_device ? "it handed nothing to the device itself"
                                                         : "it ran beside the thread that trains");
  return steps;
}

class ProfilePass {
 public:
  ProfilePass(const pass::PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt)
      : plan_(std::get<pass::TrainSpec>(spec.task).profile),
        sink_(sink),
        interrupt_(interrupt),
        rank_(spec, sink) {}

  void run() {
    rank_.run([this] {
      rank_.load();
      if (rank_.leads()) profiler_ = rank_.trainer().profiler();
      if (rank_.leads() && !profiler_)
        throw Error(ErrorCode::kUnsupported, "the trainer of this device has no profiler");
      sink_.phase("profile");
      make_steps(plan_.untimed_steps);
      rank_.leads() ? watch() : make_steps(plan_.steps);
      if (rank_.group() && !interrupt_) rank_.group()->barrier();
    });
  }

 private:
  void make_steps(std::int64_t count) {
    for (std::int64_t i = 0; i < count && !interrupt_; ++i) {
      rank_.one_step(result::StepPhase::kAfter);
      keep_row();
    }
  }
  // take_row refuses a loss that is not finite.
  void keep_row() {
    if (const auto row = rank_.take_row()) step_ns_.push_back(static_cast<double>(row->step_ns));
  }
  void settle() {
    rank_.settle();
    keep_row();
  }

  void watch() {
    settle();  // the work of a step that is not profiled
    step_ns_.clear();
    profiler_->start();
    rank_.time_with(std::make_unique<ScopedClock>(*profiler_, rank_.next_step()));
    make_steps(plan_.steps);
    settle();
    sink_.phase("report");
    sink_.emit(
        pass::operators_record(steps_of(profiler_->stop(plan_.trace_file), plan_.untimed_steps, step_ns_)));
  }

  const pass::ProfileSpec& plan_;
  TaggedSink& sink_;
  const std::atomic<bool>& interrupt_;
  TrainingRank rank_;
  std::unique_ptr<plugin::Profiler> profiler_;
  std::vector<double> step_ns_;  // of steps since the profiler started
};

}  // namespace

void run_training_profile(const pass::PassSpec& spec, pass::RecordSink& raw,
                          const std::atomic<bool>& interrupt) {
  TaggedSink sink(raw, spec);
  ProfilePass(spec, sink, interrupt).run();
}

}  // namespace paceline::workload
