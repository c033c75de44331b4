// SPDX-License-Identifier: MIT
#include "workload/collective/collective_pass.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/bounded_json.h"
#include "base/clock.h"
#include "base/units.h"
#include "cluster/roll_call.h"
#include "host/machine/affinity.h"
#include "host/system_files.h"
#include "pass/collective_records.h"
#include "pass/records.h"
#include "pass/sweep.h"
#include "result/figures/summarize_rounds.h"
#include "result/stored/case_fields.h"
#include "stats/quantile.h"
#include "stats/stop_rule.h"
#include "workload/collective/collective_data.h"
#include "workload/collective/rounds.h"
#include "workload/rank.h"
#include "workload/window/memory_observer.h"

namespace paceline::workload {
namespace {

using result::CollectiveTimes;
using Times = std::vector<std::int64_t>;

class CollectivePass {
 public:
  CollectivePass(const pass::PassSpec& spec, TaggedSink& sink)
      : spec_(spec), sweep_(std::get<pass::CollectiveSpec>(spec.task)), sink_(sink), rank_(spec, sink) {}

  void run() {
    rank_.run({.even_alone = true}, [this] { work(); });
  }

 private:
  void work() {
    communicator_ = rank_.plugin(plugin::Role::kCommunicator)
                        .make<plugin::Role::kCommunicator>(spec_.plugin(plugin::Role::kCommunicator).name,
                                                           *rank_.group());
    report_ranks();
    if (!sweep_.rounds.empty()) agree_on_hosts();
    report_known();
    sink_.phase("measure");
    auto& window = rank_.timed().window;
    window.add<MemoryObserver>();
    rank_.observe();
    window.open();
    const auto begin = clock_.now_ns();
    for (const auto& step : pass::sweep_steps(sweep_, spec_.world_size)) {
      sink_.emit(pass::at_record(words_of(step, sweep_.operation)));
      measure(step.size, step.in_place);
    }
    if (!hosts_.empty()) time_rounds(rank_, *communicator_, hosts_);
    rank_.repetition().elapsed_ns = clock_.now_ns() - begin;
    window.close();
    report();
  }

  [[nodiscard]] plugin::CollectiveCall call_of(const pass::CollectiveSize& size, bool in_place) const {
    const auto& c = sweep_;
    return {c.operation, c.dtype, c.reduction, c.root, size.send_count, size.receive_count, in_place};
  }

  void measure(const pass::CollectiveSize& size, bool in_place) {
    CollectiveTimes times;
    times.bytes = size.bytes, times.count = size.count, times.in_place = in_place;
    call_ = call_of(size, in_place);
    communicator_->prepare(call_);
    times.checked = sweep_.checks > 0 && sweep_.operation != Collective::kBarrier;
    for (std::int64_t i = 0; times.checked && i < sweep_.checks; ++i) times.wrong += check();
    for (std::int64_t i = 0; i < sweep_.warmup; ++i) communicator_->start();
    communicator_->finish();
    time_batch(times);
    time_one_by_one(times);
    tell(std::move(times));
  }

  // Counts this rank's wrong elements.
  std::int64_t check() {
    const RankOf self{spec_.rank, spec_.world_size};
    const auto data = sent_data(call_, self);
    std::vector<std::byte> received(static_cast<std::size_t>(call_.receive_count) *
                                    dtype_size_bytes(call_.dtype));
    communicator_->write(data);
    communicator_->start();
    communicator_->finish();
    communicator_->read(received);
    return count_wrong(call_, self, received);
  }

  // As nccl-tests measures: a barrier, then all at once.
  void time_batch(CollectiveTimes& times) {
    const auto n = sweep_.batch;
    const bool each = communicator_->start_completes();
    Times single;
    single.reserve(static_cast<std::size_t>(n));
    rank_.group()->barrier();
    const auto begin = clock_.now_ns();
    auto last = begin;
    for (std::int64_t i = 0; i < n; ++i) {
      communicator_->start();
      if (!each) continue;
      const auto now = clock_.now_ns();
      single.push_back(now - std::exchange(last, now));
    }
    communicator_->finish();
    times.batch = n;
    times.batch_ns = {clock_.now_ns() - begin};
    times.stream_ns = {std::move(single)};
  }

  // All ranks decide alike, because they judge the same numbers.
  void time_one_by_one(CollectiveTimes& times) {
    const auto& stop = spec_.loop.stop;
    Times mine;
    std::vector<double> slowest;
    double elapsed_ns = 0;
    auto wanted = stop.n_min;
    for (;;) {
      std::vector<double> fresh;
      while (static_cast<std::int64_t>(mine.size()) < wanted) {
        mine.push_back(time_one(times.sync_start_ns));
        fresh.push_back(static_cast<double>(mine.back()));
      }
      rank_.group()->reduce_max(fresh);
      slowest.insert(slowest.end(), fresh.begin(), fresh.end());
      for (const double ns : fresh) elapsed_ns += ns;
      const auto decision = stats::decide(slowest, static_cast<std::int64_t>(elapsed_ns), stop);
      ++checks_;
      times.converged = decision.converged.value_or(true);
      if (decision.stop) break;
      wanted = decision.next_n;
    }
    report_progress(times, slowest, elapsed_ns);
    times.sync_ns = {std::move(mine)};
  }

  std::int64_t time_one(Times& starts) {
    rank_.group()->barrier();
    const auto begin = clock_.now_ns();
    starts.push_back(begin);
    communicator_->start();
    communicator_->finish();
    return clock_.now_ns() - begin;
  }

  void report_progress(const CollectiveTimes& times, const std::vector<double>& slowest, double elapsed_ns) {
    if (!rank_.leads()) return;
    typical_ns_ = stats::median(slowest);
    pass::ProgressRecord record;
    record.phase = format_bytes(static_cast<double>(times.bytes));
    record.n = static_cast<std::int64_t>(slowest.size());
    record.elapsed_s = elapsed_ns * 1e-9;
    record.p50_ns = typical_ns_;
    sink_.emit(pass::progress_record(record));
  }

  // Rank 0 reports what all have measured of one size, before any rank takes memory for the next one.
  void tell(CollectiveTimes mine) {
    const auto texts = rank_.group()->gather(pass::collective_times_text(mine));
    if (rank_.leads()) sink_.emit(pass::collective_times_record(texts));
    rank_.group()->barrier();
  }

  // So that the sizes which are measured stand, whatever ends the sweep.
  void report_known() {
    if (!rank_.leads()) return;
    std::vector<std::pair<std::string, std::string>> settings{{"backend", spec_.ranks.backend},
                                                              {"device", spec_.ranks.device}};
    sink_.emit(
        pass::loaded_record(rank_.plugin(plugin::Role::kCommunicator).description().versions(), settings));
    sink_.emit(pass::collective_record(known_here()));
  }

  void report_ranks() {
    result::CollectiveRank self{spec_.rank, cluster::host_name(), ::getpid(),
                                host::format_cpu_list(host::current_affinity())};
    const auto texts = rank_.group()->gather(archive::Writer::write(self).dump());
    for (const auto& text : texts) {
      result::CollectiveRank one;
      archive::Reader::read(parsed_json(text), "rank", one);
      ranks_.push_back(std::move(one));
    }
  }

  // Says before the sweep where the rounds cannot be.
  void agree_on_hosts() {
    hosts_ = rank_.leads() ? result::hosts_of(ranks_)
                           : std::vector<int>(static_cast<std::size_t>(spec_.world_size));
    rank_.group()->broadcast(std::as_writable_bytes(std::span(hosts_)), 0);
    planned_rounds(sweep_.rounds, hosts_);
  }

  void report() {
    sink_.phase("report");
    auto& r = rank_.repetition();
    rank_.report_window(typical_ns_);
    if (!rank_.leads()) return;
    r.warmup_mode = r.steady_state = "fixed", r.warmup_iterations = sweep_.warmup;
    r.converged = Maybe<bool>::missing("each size has its own");
    r.stop_reason = "sizes_done", r.checks = checks_;
    sink_.emit(pass::repetition_record(r));
  }

  [[nodiscard]] result::CollectiveResult known_here() const {
    const auto& c = sweep_;
    const auto& row = row_of(c.operation);
    result::CollectiveResult known;
    known.operation = row.name;
    if (c.operation != Collective::kBarrier) known.dtype = collective_dtype_name(c.dtype);
    if (row.reduces) known.reduction = reduction_name(c.reduction);
    known.root = row.rooted ? Count(c.root) : Count::missing("it has no root");
    known.backend = spec_.ranks.backend;
    known.launcher = spec_.ranks.launcher;
    known.ranks = ranks_;
    return known;
  }

  const pass::PassSpec& spec_;
  const pass::CollectiveSpec& sweep_;
  TaggedSink& sink_;
  Rank rank_;
  SteadyClock clock_;
  std::unique_ptr<plugin::Communicator> communicator_;
  plugin::CollectiveCall call_;
  std::vector<result::CollectiveRank> ranks_;
  std::vector<int> hosts_;   // of all ranks, where rounds are asked for
  double typical_ns_ = 0;    // of the size measured last
  std::int64_t checks_ = 0;  // of the stop rule
};

}  // namespace

// Ranks end together or are ended by whoever started them, who keeps the sizes that were reported.
void run_collective_pass(const pass::PassSpec& spec, pass::RecordSink& raw, const std::atomic<bool>&) {
  TaggedSink sink(raw, spec);
  CollectivePass(spec, sink).run();
}

}  // namespace paceline::workload
