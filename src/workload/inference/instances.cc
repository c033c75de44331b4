// SPDX-License-Identifier: MIT
#include "workload/inference/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "host/machine/affinity.h"
#include "host/machine/memory.h"
#include "host/system_files.h"
#include "measure/shared_queue.h"
#include "pass/derived_spec.h"
#include "process/running_worker.h"
#include "result/judged/reference.h"
#include "workload/inference/lanes.h"
#include "workload/inference/load_pass.h"
#include "workload/inference/pass_parts.h"
#include "workload/window/memory_observer.h"

namespace paceline::workload {
namespace {

using measure::HostWaitingClock;
using measure::RequestState;
using pass::PassSpec;

constexpr int kClosedPollMs = 5;  // as often as lanes of one process are watched
constexpr int kServerPollMs = 50;
constexpr std::int64_t kLeadNs = 20'000'000;  // so that all instances are awake when a round starts
constexpr std::int64_t kWithoutEnd = std::int64_t{1}
                                     << 24;  // slots of a round; untouched ones take no memory

// Makes the first call of every lane, of lane 0 alone first; returns how long that one took.
std::int64_t first_calls(Lanes& lanes, const measure::HostWaitingClock& clock) {
  std::int64_t first_ns = 0;
  lanes.crew().run([&](int lane) {
    if (lane != 0) return;
    const auto start = clock.now_ns();
    lanes.infer(lane);
    first_ns = clock.now_ns() - start;
  });
  lanes.crew().run([&](int lane) {
    if (lane != 0) lanes.infer(lane);
  });
  return first_ns;
}

// Work of one instance of several (methodology: instances): it loads, makes its first calls, and then serves
// whatever the queue brings, asleep between rounds. At the end it reports its memory and its last outputs.
void run_instance_pass(const pass::PassSpec& spec, TaggedSink& sink, measure::SharedQueue& queue) {
  if (!spec.pin_cpus.empty()) host::pin_process(spec.pin_cpus);
  const measure::HostWaitingClock clock;
  const int instance = static_cast<int>(spec.inference.load.instance);
  Lanes lanes(spec, sink);
  const auto first_ns = first_calls(lanes, clock);
  lanes.try_batch_sizes();
  sink.phase("serve");
  MeasuredWindow window;
  window.add<MemoryObserver>(lanes.memory());
  window.open();
  queue.mark_ready(instance, first_ns);
  while (queue.wait_for_round()) {
    lanes.crew().run([&](int lane) {
      const auto body = [&](auto batch) { queue.paced() ? lanes.serve(lane, batch) : lanes.infer(lane); };
      while (!lanes.crew().failed() && queue.serve(clock, instance, body)) {
      }
    });
    queue.mark_finished(instance);
  }
  window.close();
  sink.phase("verify");
  result::Repetition r;
  r.load_ns = lanes.load_ns();
  window.report(r, 0);
  r.payload.emplace<result::Load>().batching = lanes.batching();
  sink.emit(pass::correctness_record(lanes.check()));
  sink.emit(pass::repetition_record(r));
  sink.phase(kUnload);
}

// One process and where it runs.
struct Instance {
  Instance(const pass::PassSpec& spec, int queue_fd)
      : cpus(host::format_cpu_list(spec.pin_cpus)),
        worker(spec, {{}, "/proc/self/fd/1", queue_fd}, process::RecordReader({}, {})) {}
  std::string cpus;
  process::RunningWorker worker;
};

// All processes and their queue.
class Crew {
 public:
  // Starts one process after the other, because loading has threads of its own.
  explicit Crew(const pass::PassSpec& spec) : queue_(static_cast<int>(spec.inference.load.instances)) {
    for (int i = 0; i < queue_.instances(); ++i) {
      instances_.push_back(std::make_unique<Instance>(pass::spec_of_instance(spec, i), queue_.file()));
      while (!queue_.ready(i)) {
        watch(kClosedPollMs);
        require_complete();
      }
    }
  }

  [[nodiscard]] measure::SharedQueue& queue() { return queue_; }
  [[nodiscard]] const measure::SharedQueue& queue() const { return queue_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Instance>>& instances() const { return instances_; }
  [[nodiscard]] const Count& peak_memory() const { return peak_memory_; }
  [[nodiscard]] bool any_running() const {
    return std::any_of(instances_.begin(), instances_.end(),
                       [](const auto& one) { return one->worker.running(); });
  }
  [[nodiscard]] std::vector<int> process_ids() const {
    std::vector<int> ids;
    for (const auto& one : instances_)
      if (one->worker.running()) ids.push_back(one->worker.pid());
    return ids;
  }

  void require_complete() const {
    for (std::size_t i = 0; i < instances_.size(); ++i)
      if (const auto& death = instances_[i]->worker.failure())
        throw InstanceDied(
            {death->code, fmt::format("instance {} of {}: {}", i + 1, queue_.instances(), death->reason)});
  }

  // Runs one round. Calls `tick` meanwhile, which ends it by returning true.
  template <class Tick>
  void run(const measure::RoundPlan& plan, int poll_ms, Tick tick) {
    queue_.open(plan);
    while (any_running() && !finished()) {
      watch(poll_ms);
      if (tick()) queue_.stop();
    }
  }

  // Lets every instance compare its outputs and end.
  void close() {
    queue_.close();
    while (any_running()) watch(kClosedPollMs);
  }

 private:
  [[nodiscard]] bool finished() const {
    for (std::size_t i = 0; i < instances_.size(); ++i)
      if (instances_[i]->worker.running() && !queue_.finished(static_cast<int>(i))) return false;
    return true;
  }

  // Fails at once what a dead process had claimed.
  void watch(int timeout_ms) {
    std::vector<const process::RunningWorker*> workers;
    for (const auto& one : instances_) workers.push_back(&one->worker);
    process::RunningWorker::wait_for_news(workers, timeout_ms);
    read_memory();
    for (std::size_t i = 0; i < instances_.size(); ++i)
      if (instances_[i]->worker.look()) queue_.fail_claims(static_cast<int>(i));
  }

  // Their peaks need not coincide, so what all have together is read now and then.
  void read_memory() {
    const auto now = SteadyClock{}.now_ns();
    if (now - memory_read_ns_ < kMemoryNs) return;
    memory_read_ns_ = now;
    std::vector<host::ProcessMemory> all;
    for (const int id : process_ids()) all.push_back(host::process_memory(host::SystemFiles(), id));
    const auto together = host::memory_together(all);
    if (together && (!peak_memory_ || *together > *peak_memory_)) peak_memory_ = together;
  }

  static constexpr std::int64_t kMemoryNs = 20'000'000;
  measure::SharedQueue queue_;
  std::vector<std::unique_ptr<Instance>> instances_;
  Count peak_memory_ = Count::missing("no moment was seen at which all instances ran");
  std::int64_t memory_read_ns_ = 0;
};

// Work without a schedule: every lane of every instance claims its next request when its last is complete.
class QueueLoop : public measure::JudgedLoop<HostWaitingClock> {
 public:
  QueueLoop(const HostWaitingClock& clock, const pass::PassSpec& spec, const measure::LoopHooks& hooks,
            Crew& crew)
      : JudgedLoop(clock, spec.inference.load.lanes(), hooks, spec.loop.progress_interval_ns), crew_(crew) {}
  [[nodiscard]] const std::vector<std::int64_t>& lost() const { return lost_; }

 private:
  std::int64_t first_calls() override { return crew_.queue().first_call_ns(); }  // made before `ready`

  void run_calls(std::int64_t count, std::vector<measure::Sample>& samples,
                 const std::function<bool()>& enough) override {
    lost_.clear();
    const auto collect = [&] {
      for (const auto& r : crew_.queue().collect())
        if (r.state == RequestState::kDone)
          samples.push_back({r.start_ns, r.end_ns - r.start_ns});
        else
          lost_.push_back(r.start_ns > 0 ? r.start_ns : r.scheduled_ns);
    };
    crew_.run({clock_.now_ns() + kLeadNs, count < 0 ? kWithoutEnd : count}, kClosedPollMs, [&] {
      collect();
      return enough() || interrupted();
    });
    collect();
  }

  Crew& crew_;
  std::vector<std::int64_t> lost_;
};

// All instances: the most at one moment, and what was there before they loaded the model.
result::Memory memory_of_all(const std::vector<result::Memory>& parts, const Count& peak) {
  std::vector<host::ProcessMemory> before;
  for (const auto& part : parts)
    before.push_back({part.rss_before_load_bytes, {}, part.shared_before_load_bytes});
  result::Memory all;
  all.rss_before_load_bytes = host::memory_together(before);
  all.rss_peak_bytes = peak;
  if (peak && all.rss_before_load_bytes)
    all.rss_peak_above_load_bytes = std::max<std::int64_t>(0, *peak - *all.rss_before_load_bytes);
  return all;
}

class InstanceService : public Service {
 public:
  InstanceService(const pass::PassSpec& spec, TaggedSink& sink, const HostWaitingClock& clock,
                  const measure::LoopHooks& hooks, const std::atomic<bool>& interrupt)
      : clock_(clock), hooks_(hooks), interrupt_(interrupt), crew_(spec), loop_(clock, spec, hooks, crew_) {
    const auto& report = crew_.instances().front()->worker.report();
    sink.emit(pass::loaded_record(report.versions,
                                  {report.effective_settings.begin(), report.effective_settings.end()}));
  }

  measure::JudgedLoop<HostWaitingClock>& loop() override { return loop_; }

  std::vector<measure::Request> serve(const measure::OpenLoopConfig& config) override {
    const auto start = clock_.now_ns() + kLeadNs;
    const measure::RoundPlan round{start,          0, config.arrivals_ns, config.timeout_ns, config.drain_ns,
                                   config.batching};
    crew_.run(round, kServerPollMs, [&] {
      const auto elapsed = clock_.now_ns() - start;
      if (hooks_.progress && elapsed - reported_ns_ >= kReportNs) {
        reported_ns_ = elapsed;
        hooks_.progress({measure::Phase::kMeasure, crew_.queue().claimed(), elapsed, nullptr});
      }
      return interrupt_.load();
    });
    reported_ns_ = 0;
    std::vector<measure::Request> requests;
    for (auto& r : crew_.queue().requests()) {
      if (r.state == RequestState::kWaiting && !interrupt_)
        r.state = RequestState::kUnfinished;  // no instance was left
      requests.push_back(r);
    }
    return requests;
  }

  void try_batch_sizes() override {}  // each instance has done so before it was ready
  [[nodiscard]] std::vector<std::int64_t> lost_calls() const override { return loop_.lost(); }
  void require_complete() const override { crew_.require_complete(); }
  void observe(TimedRepetition& repetition) const override { repetition.observe(crew_.process_ids()); }

  ServiceEnd finish(double) override {
    const auto tallies = crew_.queue().tally();
    crew_.close();
    ServiceEnd end;
    std::vector<result::Memory> memory;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      Instance& one = *crew_.instances()[i];
      end.instances.push_back(account(i, one, tallies[i]));
      if (one.worker.failure()) continue;
      const auto& report = one.worker.report();
      if (memory.empty()) {
        end.load_ns = report.repetition.load_ns.value().value_or(0);
        if (report.repetition.load()) end.batching = report.repetition.load()->batching;
      }
      memory.push_back(report.repetition.memory);
      const bool bad = result::is_wrong(report.correctness);
      if (memory.size() == 1 || bad) end.correctness = report.correctness;
    }
    if (!memory.empty()) end.memory = memory_of_all(memory, crew_.peak_memory());
    return end;
  }

 private:
  static constexpr std::int64_t kReportNs = 500'000'000;

  static result::InstanceLoad account(std::size_t index, const Instance& one,
                                      const measure::ClaimTally& tally) {
    return {static_cast<std::int64_t>(index),
            one.cpus,
            tally.claimed,
            tally.done,
            tally.timed_out,
            tally.unfinished,
            tally.failed,
            one.worker.failure() ? one.worker.failure()->reason : std::string()};
  }

  const HostWaitingClock& clock_;
  const measure::LoopHooks& hooks_;
  const std::atomic<bool>& interrupt_;
  Crew crew_;
  QueueLoop loop_;
  std::int64_t reported_ns_ = 0;
};

}  // namespace

void run_on_instances(const pass::PassSpec& spec, pass::RecordSink& raw, const std::atomic<bool>& interrupt) {
  TaggedSink sink(raw, spec);
  run_load_pass(spec, sink, interrupt, [&](const HostWaitingClock& clock, const measure::LoopHooks& hooks) {
    sink.phase("load");
    return std::make_unique<InstanceService>(spec, sink, clock, hooks, interrupt);
  });
}

void serve_as_instance(const pass::PassSpec& spec, pass::RecordSink& raw) {
  TaggedSink sink(raw, spec);
  measure::SharedQueue queue{FileDescriptor(process::kExtraFd)};
  run_instance_pass(spec, sink, queue);
}

}  // namespace paceline::workload
