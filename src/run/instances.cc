// SPDX-License-Identifier: MIT
#include "run/instances.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "host/oom.h"
#include "host/system_files.h"
#include "measure/shared_queue.h"
#include "run/record_reader.h"
#include "run/spawn.h"
#include "workload/inference/instance_pass.h"
#include "workload/inference/load_pass.h"

namespace paceline::run {
namespace {

using measure::HostWaitingClock;
using measure::RequestState;
using workload::PassSpec;

constexpr int kClosedPollMs = 5;  // as lanes of one process are watched
constexpr int kServerPollMs = 50;
constexpr std::int64_t kLeadNs = 20'000'000;  // all instances are awake when a round starts
constexpr std::int64_t kWithoutEnd = std::int64_t{1}
                                     << 24;  // slots of a round; untouched ones take no memory

// One process, from its start to its end.
class Instance {
 public:
  Instance(const PassSpec& spec, int queue_fd)
      : cpus_(host::format_cpu_list(spec.pin_cpus)),
        spec_file_(memory_file(workload::to_json(spec).dump())),
        pipe_(record_pipe()),
        reader_({}, {}),
        child_({worker_command_line(),
                {},
                "/proc/self/fd/1",
                spec_file_.get(),
                pipe_.write_end.get(),
                queue_fd}) {
    pipe_.write_end.reset();
  }

  [[nodiscard]] int records() const { return pipe_.read_end.get(); }
  [[nodiscard]] int process_id() const { return child_.pid(); }
  [[nodiscard]] const std::string& cpus() const { return cpus_; }
  [[nodiscard]] bool running() const { return running_; }
  [[nodiscard]] const std::optional<Verdict>& death() const { return death_; }
  [[nodiscard]] workload::PassReport& report() { return reader_.report(); }

  // Takes what it said. True when it ended just now.
  bool look(const host::OomCounters& oom_before) {
    if (!running_) return false;
    const bool ended = child_.ended();  // asked first: what it said before its end is in the pipe
    take_records();
    if (!ended) return false;
    running_ = false;
    const int status = child_.wait_status();
    const bool clean = report().done && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!clean && !death_)
      death_ = explain_end(report(), status, host::oom_evidence(oom_before, host::read_oom_counters()));
    return true;
  }

 private:
  void take_records() {
    try {
      reader_.drain(records());
    } catch (const Error& e) {
      death_ = Verdict{"protocol", fmt::format("the instance sent {}", e.what())};
      child_.signal_group(SIGKILL);
    }
  }

  std::string cpus_;
  FileDescriptor spec_file_;
  Pipe pipe_;
  RecordReader reader_;
  ChildProcess child_;
  bool running_ = true;
  std::optional<Verdict> death_;
};

// All processes and their queue.
class Crew {
 public:
  // One after the other: loading has threads of its own.
  explicit Crew(const PassSpec& spec)
      : queue_(static_cast<int>(spec.load.instances)), oom_before_(host::read_oom_counters()) {
    for (int i = 0; i < queue_.instances(); ++i) {
      instances_.push_back(std::make_unique<Instance>(workload::spec_of_instance(spec, i), queue_.file()));
      while (!queue_.ready(i)) {
        watch(kClosedPollMs);
        require_complete();
      }
    }
  }

  [[nodiscard]] measure::SharedQueue& queue() { return queue_; }
  [[nodiscard]] const measure::SharedQueue& queue() const { return queue_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Instance>>& instances() const { return instances_; }
  [[nodiscard]] bool any_running() const {
    return std::any_of(instances_.begin(), instances_.end(), [](const auto& one) { return one->running(); });
  }
  [[nodiscard]] std::vector<int> process_ids() const {
    std::vector<int> ids;
    for (const auto& one : instances_)
      if (one->running()) ids.push_back(one->process_id());
    return ids;
  }

  void require_complete() const {
    for (std::size_t i = 0; i < instances_.size(); ++i)
      if (const auto& death = instances_[i]->death())
        throw InstanceDied(
            {death->code, fmt::format("instance {} of {}: {}", i + 1, queue_.instances(), death->reason)});
  }

  // One round; `tick` is asked meanwhile and ends it when true.
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
      if (instances_[i]->running() && !queue_.finished(static_cast<int>(i))) return false;
    return true;
  }

  // What a process that is dead had claimed is failed at once.
  void watch(int timeout_ms) {
    std::vector<pollfd> waiting;
    for (const auto& one : instances_)
      if (one->running()) waiting.push_back({one->records(), POLLIN, 0});
    const int heard = ::poll(waiting.data(), waiting.size(), timeout_ms);
    for (std::size_t i = 0; i < instances_.size(); ++i)
      if (instances_[i]->look(oom_before_)) queue_.fail_claims(static_cast<int>(i));
    // A pipe whose process is on its way out is readable without end.
    const bool hung_up =
        std::any_of(waiting.begin(), waiting.end(), [](const pollfd& p) { return p.revents & POLLHUP; });
    if (heard > 0 && hung_up) ::poll(nullptr, 0, 1);
  }

  measure::SharedQueue queue_;
  host::OomCounters oom_before_;
  std::vector<std::unique_ptr<Instance>> instances_;
};

// Calls without a schedule: every lane of every instance claims its next when its last is complete.
class QueueLoop : public measure::JudgedLoop<HostWaitingClock> {
 public:
  QueueLoop(const HostWaitingClock& clock, const PassSpec& spec, const measure::LoopHooks& hooks, Crew& crew)
      : JudgedLoop(clock, spec.load.lanes(), hooks, spec.loop.progress_interval_ns), crew_(crew) {}
  [[nodiscard]] const std::vector<std::int64_t>& lost() const { return lost_; }

 private:
  std::int64_t first_calls() override { return crew_.queue().first_call_ns(); }  // made before it was ready

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

void add(result::Count& into, const result::Count& from) {
  into = into && from ? result::Count(*into + *from) : result::Count::missing("not known of every instance");
}

result::Memory sum_of(const std::vector<result::Memory>& parts) {
  result::Memory sum = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    add(sum.rss_before_load_bytes, parts[i].rss_before_load_bytes);
    add(sum.rss_peak_bytes, parts[i].rss_peak_bytes);
    add(sum.rss_peak_above_load_bytes, parts[i].rss_peak_above_load_bytes);
  }
  return sum;
}

class InstanceService : public workload::Service {
 public:
  InstanceService(const PassSpec& spec, workload::TaggedSink& sink, const HostWaitingClock& clock,
                  const measure::LoopHooks& hooks, const std::atomic<bool>& interrupt)
      : clock_(clock), hooks_(hooks), interrupt_(interrupt), crew_(spec), loop_(clock, spec, hooks, crew_) {
    const auto& report = crew_.instances().front()->report();
    sink.emit(workload::loaded_record(report.versions,
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
        r.state = RequestState::kUnfinished;  // nobody was left
      requests.push_back(r);
    }
    return requests;
  }

  void try_batch_sizes() override {}  // each instance did before it was ready
  [[nodiscard]] std::vector<std::int64_t> lost_calls() const override { return loop_.lost(); }
  void require_complete() const override { crew_.require_complete(); }
  [[nodiscard]] host::NoiseSnapshot snapshot() const override {
    return host::take_snapshot_with(crew_.process_ids());
  }

  workload::ServiceEnd finish(double) override {
    const auto tallies = crew_.queue().tally();
    crew_.close();
    workload::ServiceEnd end;
    std::vector<result::Memory> memory;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      Instance& one = *crew_.instances()[i];
      end.instances.push_back(account(i, one, tallies[i]));
      if (one.death()) continue;
      const auto& report = one.report();
      if (memory.empty()) {
        end.load_ns = report.repetition.load_ns.value().value_or(0);
        for (const auto& load : report.repetition.load) end.batching = load.batching;
      }
      memory.push_back(report.repetition.memory);
      const bool bad = report.correctness.checked && !report.correctness.passed;
      if (memory.size() == 1 || bad) end.correctness = report.correctness;
    }
    if (!memory.empty()) end.memory = sum_of(memory);
    return end;
  }

 private:
  static constexpr std::int64_t kReportNs = 500'000'000;

  static result::InstanceLoad account(std::size_t index, const Instance& one,
                                      const measure::ClaimTally& tally) {
    return {static_cast<std::int64_t>(index),
            one.cpus(),
            tally.claimed,
            tally.done,
            tally.timed_out,
            tally.unfinished,
            tally.failed,
            one.death() ? one.death()->reason : std::string()};
  }

  const HostWaitingClock& clock_;
  const measure::LoopHooks& hooks_;
  const std::atomic<bool>& interrupt_;
  Crew crew_;
  QueueLoop loop_;
  std::int64_t reported_ns_ = 0;
};

}  // namespace

void run_on_instances(const PassSpec& spec, workload::RecordSink& raw, const std::atomic<bool>& interrupt) {
  workload::TaggedSink sink(raw, spec);
  workload::run_load_pass(spec, sink, interrupt,
                          [&](const HostWaitingClock& clock, const measure::LoopHooks& hooks) {
                            sink.phase("load");
                            return std::make_unique<InstanceService>(spec, sink, clock, hooks, interrupt);
                          });
}

void serve_as_instance(const PassSpec& spec, workload::RecordSink& raw) {
  workload::TaggedSink sink(raw, spec);
  measure::SharedQueue queue{FileDescriptor(kExtraFd)};
  workload::run_instance_pass(spec, sink, queue);
}

}  // namespace paceline::run
